import { NAME_PATTERN, toolId } from '../../domain/identity/ids.ts';
import type { JsonObject } from '../../base/json.ts';
import { MAX_SURFACE_NAME, surfaceToolName, type Surface } from '../../domain/tool/surface.ts';
import type { SurfaceDeclaration } from '../../domain/tool/module.ts';
import { isUri, parseUriTemplate } from '../../base/uri-template.ts';
import { toolDigest } from '../../domain/tool/digest.ts';
import { findSchemaProblem } from './check-schema.ts';
import type { ModuleDefinition } from './define-module.ts';
import type { PromptDefinition, ResourceDefinition } from './define-surfaces.ts';
import { checkDescription, checkMembers, checkSecrets, fail, membersOf, normalisesOf } from './module-problem.ts';
import { resolveLimits } from './resolve-limits.ts';
import { findHiddenCharacter, isMediaType } from './shown-text.ts';
import { promptArguments, promptSchema, resourceSchema } from './surface-schemas.ts';

const SURFACE_MEMBERS = {
  name: true,
  title: true,
  description: true,
  secrets: true,
  limits: true,
  complete: true,
} as const;
const RESOURCE_MEMBERS = membersOf<ResourceDefinition>({
  ...SURFACE_MEMBERS,
  uri: true,
  uriTemplate: true,
  mediaType: true,
  read: true,
});
const PROMPT_MEMBERS = membersOf<PromptDefinition>({
  ...SURFACE_MEMBERS,
  arguments: true,
  normalises: true,
  render: true,
});
const MAX_SURFACES = 1000;
const MAX_TITLE = 200;

/** Checks the resources and prompts of a module and turns them into data. Throws ModuleProblem. */
export function describeSurfaces(module: string, { resources, prompts }: ModuleDefinition): SurfaceDeclaration[] {
  const found = [
    ...listOf<ResourceDefinition>(resources, `Module ${module}`, 'resources').map((one) =>
      describeResource(module, one),
    ),
    ...listOf<PromptDefinition>(prompts, `Module ${module}`, 'prompts').map((one) => describePrompt(module, one)),
  ];
  const taken = new Set<string>();
  for (const { id, surface } of found) {
    const uri = surface.kind === 'prompt' ? undefined : 'uri' in surface ? surface.uri : surface.uriTemplate;
    for (const name of uri === undefined ? [id] : [id, uri]) {
      if (taken.has(name)) fail(`Module ${module}`, `has ${name} twice`);
      taken.add(name);
    }
  }
  return found;
}

function listOf<Item>(list: unknown, where: string, what: string): readonly Item[] {
  if (list === undefined) return [];
  if (!Array.isArray(list) || list.length > MAX_SURFACES)
    return fail(where, `may have a list of up to ${MAX_SURFACES} ${what}`);
  return list as readonly Item[];
}

function describeResource(module: string, definition: ResourceDefinition): SurfaceDeclaration {
  const where = nameOf(module, 'resource', definition);
  const { name, mediaType } = definition;
  checkMembers(definition, RESOURCE_MEMBERS, where);
  if (typeof definition.read !== 'function') fail(where, 'has no function "read"');
  if (mediaType !== undefined && !isMediaType(mediaType)) fail(where, 'has a "mediaType" that is none');
  const address = addressOf(definition, where);
  const surface: Surface = {
    kind: 'resource',
    name,
    ...titleOf(definition, where),
    ...address,
    ...(mediaType === undefined ? {} : { mediaType }),
    ...completesOf(definition, where),
  };
  const shown = 'uri' in address ? address.uri : address.uriTemplate;
  return declare(module, surface, definition, resourceSchema(definition), `The resource ${shown}.`);
}

function addressOf({ uri, uriTemplate }: ResourceDefinition, where: string): { uri: string } | { uriTemplate: string } {
  if ((uri === undefined) === (uriTemplate === undefined)) fail(where, 'needs either "uri" or "uriTemplate"');
  if (uri !== undefined)
    return isUri(uri) ? { uri } : fail(where, 'has a "uri" that is no absolute URI such as "notes://inbox"');
  const parsed = parseUriTemplate(uriTemplate);
  if (parsed.kind === 'problem') return fail(where, `has a "uriTemplate" that cannot be used: ${parsed.problem}`);
  return { uriTemplate: parsed.template.text };
}

function describePrompt(module: string, definition: PromptDefinition): SurfaceDeclaration {
  const where = nameOf(module, 'prompt', definition);
  const { name } = definition;
  checkMembers(definition, PROMPT_MEMBERS, where);
  if (typeof definition.render !== 'function') fail(where, 'has no function "render"');
  let schema: JsonObject;
  try {
    schema = promptSchema(definition);
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it threw';
    return fail(where, `has a schema of arguments that cannot be published: ${why}`);
  }
  const problem = findSchemaProblem(schema);
  if (problem !== undefined) fail(where, `has a schema of arguments that cannot be published: ${problem}`);
  const surface: Surface = {
    kind: 'prompt',
    name,
    ...titleOf(definition, where),
    arguments: promptArguments(schema),
    ...completesOf(definition, where),
  };
  const normal = normalisesOf(definition.normalises, definition.arguments, where);
  return declare(module, surface, definition, schema, `The prompt ${name}.`, normal);
}

function declare(
  module: string,
  surface: Surface,
  { description, secrets, limits }: ResourceDefinition | PromptDefinition,
  inputSchema: JsonObject,
  unnamed: string,
  normal: { readonly normalises?: true } = {},
): SurfaceDeclaration {
  const id = toolId(module, surfaceToolName(surface.kind, surface.name));
  const where = `${surface.kind === 'resource' ? 'Resource' : 'Prompt'} ${id}`;
  const resolved = resolveLimits(limits ?? {}, 'read');
  if (resolved.kind === 'problem') return fail(where, resolved.problem);
  const shown = {
    id,
    description: description === undefined ? unnamed : checkDescription(description, where),
    inputSchema,
    effect: 'read',
    privileged: false,
    serial: false,
    ...normal,
    ...(secrets === undefined ? {} : { secrets: checkSecrets(secrets, where) }),
    surface,
  } as const;
  return { ...shown, limits: resolved.limits, digest: toolDigest(shown) };
}

function nameOf(module: string, kind: Surface['kind'], definition: unknown): string {
  const { name } = (definition ?? {}) as { name?: unknown };
  const where = `A ${kind} of module ${module}`;
  if (typeof name !== 'string' || !NAME_PATTERN.test(name) || name.length > MAX_SURFACE_NAME)
    fail(
      where,
      `has the name ${JSON.stringify(name)?.slice(0, 80)}, which is not usable: letters, digits, "_" and "-", 1 to ${MAX_SURFACE_NAME} of them, the first a letter or digit`,
    );
  return `${kind === 'resource' ? 'Resource' : 'Prompt'} ${module}.${surfaceToolName(kind, name as string)}`;
}

function titleOf({ title }: { readonly title?: string }, where: string): { title?: string } {
  if (title === undefined) return {};
  const isShown = typeof title === 'string' && title.trim() !== '' && title.length <= MAX_TITLE;
  if (!isShown || findHiddenCharacter(title) !== undefined)
    return fail(where, `has a "title" that is no text of up to ${MAX_TITLE} visible characters`);
  return { title };
}

function completesOf({ complete }: { readonly complete?: unknown }, where: string): { completes?: true } {
  if (complete === undefined) return {};
  return typeof complete === 'function' ? { completes: true } : fail(where, '"complete" must be a function');
}
