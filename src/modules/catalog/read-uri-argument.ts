import type { JsonObject } from '../../base/json.ts';
import type { ToolDeclaration } from '../../domain/tool/tool.ts';
import { parseUriTemplate, type ReadUri } from '../../base/uri-template.ts';
import type { FillDefaults } from './fill-defaults.ts';
import type { Validate } from './validate-arguments.ts';

/** How the arguments of one tool are read before any decision about them. */
interface ReadArguments {
  readonly validate: Validate;
  readonly fill: FillDefaults;
}

/**
 * Reads the `uri` of a resource with a template like the tool reads it: a URI that the template refuses is a problem, and any other
 * spelling is replaced by the canonical one. A URI that the template does not match is left to the tool, which does not find it.
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
