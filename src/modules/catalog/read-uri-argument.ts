import type { JsonObject } from '../../base/json.ts';
import type { ToolDeclaration } from '../../domain/tool/tool.ts';
import { parseUriTemplate, type ReadUri } from '../../base/uri-template.ts';
import type { FillDefaults } from './fill-defaults.ts';
import type { Validate } from './validate-arguments.ts';

/** How the arguments of one tool are checked and completed before rules and hooks see them. */
interface ReadArguments {
  readonly validate: Validate;
  readonly fill: FillDefaults;
}

/**
 * Treats the `uri` of a resource with a template as the resource itself will: a URI that the template refuses is a problem, and any other
 * spelling is replaced by the canonical one. A URI that does not match the template is passed on; the tool answers that it was not found.
 */
export function readUriArgument({ surface }: Pick<ToolDeclaration, 'surface'>, schema: ReadArguments): ReadArguments {
  if (surface?.kind !== 'resource' || !('uriTemplate' in surface)) return schema;
  const parsed = parseUriTemplate(surface.uriTemplate);
  if (parsed.kind === 'problem') return { ...schema, validate: () => [`uri: ${parsed.problem}`] };
  const read = ({ uri }: JsonObject): ReadUri =>
    typeof uri === 'string' ? parsed.template.read(uri) : { kind: 'other' };
  return {
    validate(value) {
      const problems = schema.validate(value);
      if (problems.length > 0) return problems;
      const found = read(value as JsonObject);
      return found.kind === 'refused' ? [`uri: ${found.problem}`] : [];
    },
    fill(value) {
      const filled = schema.fill(value);
      const found = read(filled);
      return found.kind !== 'read' || found.uri === filled['uri'] ? filled : { ...filled, uri: found.uri };
    },
  };
}
