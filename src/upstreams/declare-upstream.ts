import { resolveLimits } from '../modules/authoring/resolve-limits.ts';
import { findSchemaFault } from '../modules/catalog/inspect-schema.ts';
import { NAME_PATTERN, toolId, type ToolId } from '../domain/identity/ids.ts';
import { moduleDigest, toolDigest } from '../domain/tool/digest.ts';
import type { ModuleDeclaration, SurfaceDeclaration } from '../domain/tool/module.ts';
import { isSurfaceToolName, MAX_SURFACE_NAME, surfaceToolName, type Surface } from '../domain/tool/surface.ts';
import type { Effect, ToolDeclaration, ToolLimits } from '../domain/tool/tool.ts';
import type { ToolOverride, Upstream } from '../domain/upstream/upstream.ts';
import type { DefinitionKind, UpstreamDefinition } from '../domain/upstream/definition.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { escapeHidden } from '../base/escape-text.ts';
import { shorten } from '../base/cut-text.ts';
import { isUri, parseUriTemplate } from '../base/uri-template.ts';
import { shortSha256 } from '../base/sha256.ts';
import { withoutSecretMarks } from './secret-marks.ts';

/** A definition that is published: pinned by an operator, or not reviewed yet. */
export interface PublishedDefinition extends UpstreamDefinition {
  /** What the operator accepted. Absent: no operator has reviewed it yet. */
  readonly effect?: Effect;
}

export interface DeclaredUpstream {
  readonly declaration: ModuleDeclaration;
  /** What each entry of the module is at the server. */
  readonly definitions: ReadonlyMap<ToolId, UpstreamDefinition>;
  /** Definitions that cannot be published, and why. */
  readonly refused: readonly { readonly kind: DefinitionKind; readonly name: string; readonly problem: string }[];
}

const MAX_DESCRIPTION = 16 * 1024;
const MAX_TITLE = 200;
const VERSION = /^[\w.+-]{1,64}$/u;

/** Makes the module that Sallyport publishes from the definitions of a server. */
export function declareUpstream(
  upstream: Upstream,
  server: JsonObject,
  published: readonly PublishedDefinition[],
  defaultPool: string,
): DeclaredUpstream {
  const names = new EntryNames();
  const definitions = new Map<ToolId, UpstreamDefinition>();
  const refused: { kind: DefinitionKind; name: string; problem: string }[] = [];
  const [tools, surfaces]: [ToolDeclaration[], SurfaceDeclaration[]] = [[], []];
  for (const definition of published.toSorted(byName)) {
    if (definition.kind === 'tool' && upstream.tools[definition.name]?.hidden === true) continue;
    const read = declareEntry(upstream, definition, names);
    if ('problem' in read) {
      refused.push({ kind: definition.kind, name: definition.name, problem: read.problem });
      continue;
    }
    definitions.set(read.id, definition);
    if (read.surface === undefined) tools.push(read);
    else surfaces.push(read as SurfaceDeclaration);
  }
  const version = textOf(server['version']) ?? '';
  const shown = {
    id: upstream.id,
    description: describeServer(upstream, server),
    version: VERSION.test(version) ? version : '0',
    pool: upstream.pool ?? defaultPool,
    tools: tools.sort(byId),
    ...(surfaces.length === 0 ? {} : { surfaces: surfaces.sort(byId) }),
  };
  return { declaration: { ...shown, digest: moduleDigest(shown) }, definitions, refused };
}

type Declared = ToolDeclaration | { readonly problem: string };

function declareEntry(upstream: Upstream, definition: PublishedDefinition, names: EntryNames): Declared {
  const { kind, name } = definition;
  switch (kind) {
    case 'tool':
      return declareTool(upstream, definition, toolId(upstream.id, names.toolName(name)));
    case 'resource':
    case 'template':
      return declareResource(upstream, definition, names);
    case 'prompt':
      return declarePrompt(upstream, definition, names);
  }
}

function declareTool(upstream: Upstream, definition: PublishedDefinition, id: ToolId): Declared {
  const { name, body } = definition;
  const override: ToolOverride = upstream.tools[name] ?? {};
  const isReviewed = definition.effect !== undefined;
  const input = body['inputSchema'];
  if (!isJsonObject(input) || (input['type'] ?? 'object') !== 'object')
    return { problem: 'its input schema does not describe an object' };
  // A server must not be able to hide its own arguments from the person who approves the call.
  const inputSchema = isReviewed ? input : withoutSecretMarks(input);
  const fault = findSchemaFault(inputSchema);
  if (fault !== undefined) return { problem: `its input schema cannot be used: ${fault}` };
  const output = body['outputSchema'];
  const isOutputUsable = isJsonObject(output) && findSchemaFault(output) === undefined;
  const effect = override.effect ?? definition.effect ?? 'unsafe';
  const limits = resolveLimits(override.limits ?? {}, effect);
  if (limits.kind === 'problem') return { problem: limits.problem };
  const shown = {
    id,
    description: override.description ?? describeDefinition(body, `The tool ${name}.`),
    inputSchema,
    ...(isOutputUsable ? { outputSchema: output } : {}),
    effect,
    privileged: override.privileged ?? false,
    serial: override.serial ?? false,
    ...(isReviewed ? {} : ({ unreviewed: true } as const)),
  };
  return { ...shown, limits: limits.limits, digest: toolDigest(shown) };
}

const URI_SCHEMA: JsonObject = Object.freeze({ type: 'string', maxLength: 8192 });
const COMPLETE: JsonObject = Object.freeze({
  type: 'object',
  properties: {
    argument: { type: 'string', maxLength: 256 },
    value: { type: 'string', maxLength: 8192 },
    known: { type: 'object', additionalProperties: { type: 'string', maxLength: 8192 } },
  },
  required: ['argument', 'value'],
  additionalProperties: false,
});

function declareResource(upstream: Upstream, definition: PublishedDefinition, names: EntryNames): Declared {
  const { body, name: address } = definition;
  const isTemplate = definition.kind === 'template';
  if (!isTemplate && !isUri(address)) return { problem: 'its URI is not absolute' };
  const parsed = isTemplate ? parseUriTemplate(address) : undefined;
  if (parsed?.kind === 'problem') return { problem: `its URI template cannot be used: ${parsed.problem}` };
  const name = names.surfaceName('resource', textOf(body['name']) ?? address);
  const surface: Surface = {
    kind: 'resource',
    name,
    ...titleOf(body),
    ...(typeof body['mimeType'] === 'string' ? { mediaType: shorten(body['mimeType'], 128) } : {}),
    ...(isTemplate ? { uriTemplate: address, completes: true as const } : { uri: address }),
  };
  const properties: JsonObject = isTemplate ? { uri: URI_SCHEMA, complete: COMPLETE } : {};
  const inputSchema: JsonObject = { type: 'object', properties, additionalProperties: false };
  return declareSurface(upstream, definition, surface, inputSchema, `The resource ${address}.`);
}

function declarePrompt(upstream: Upstream, definition: PublishedDefinition, names: EntryNames): Declared {
  const { body } = definition;
  const given = Array.isArray(body['arguments']) ? body['arguments'].filter(isJsonObject) : [];
  const named = given.flatMap((argument) => {
    const { name } = argument;
    return typeof name === 'string' ? [{ name, argument }] : [];
  });
  const surface: Surface = {
    kind: 'prompt',
    name: names.surfaceName('prompt', definition.name),
    ...titleOf(body),
    arguments: named.map(({ name, argument }) => ({
      name,
      ...titleOf(argument),
      ...(typeof argument['description'] === 'string' ? { description: visible(argument['description']) } : {}),
      required: argument['required'] === true,
    })),
    completes: true,
  };
  const required = surface.arguments.filter((argument) => argument.required).map(({ name }) => name);
  const text: JsonObject = { type: 'string' };
  const argumentsSchema: JsonObject = {
    type: 'object',
    properties: Object.fromEntries(surface.arguments.map(({ name }) => [name, text])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
  const inputSchema: JsonObject = {
    type: 'object',
    properties: { arguments: argumentsSchema, complete: COMPLETE },
    additionalProperties: false,
  };
  return declareSurface(upstream, definition, surface, inputSchema, `The prompt ${definition.name}.`);
}

function declareSurface(
  upstream: Upstream,
  { body, effect }: PublishedDefinition,
  surface: Surface,
  inputSchema: JsonObject,
  unnamed: string,
): Declared {
  const shown = {
    id: toolId(upstream.id, surfaceToolName(surface.kind, surface.name)),
    description: describeDefinition(body, unnamed),
    inputSchema,
    effect: 'read',
    privileged: false,
    serial: false,
    ...(effect === undefined ? ({ unreviewed: true } as const) : {}),
    surface,
  } as const;
  const limits: ToolLimits = (resolveLimits({}, 'read') as { limits: ToolLimits }).limits;
  return { ...shown, limits, digest: toolDigest(shown) };
}

function describeServer({ id }: Upstream, server: JsonObject): string {
  const name = textOf(server['title']) ?? textOf(server['name']) ?? id;
  return visible(shorten(`The MCP server ${name}.`, MAX_TITLE));
}

function describeDefinition(body: JsonObject, unnamed: string): string {
  return visible(shorten(textOf(body['description']) ?? textOf(body['title']) ?? unnamed, MAX_DESCRIPTION));
}

function titleOf({ title }: JsonObject): { title?: string } {
  return typeof title === 'string' && title.trim() !== '' ? { title: visible(shorten(title, MAX_TITLE)) } : {};
}

/** A reviewer must see the same text as the model: hidden characters are written out. */
function visible(text: string): string {
  return escapeHidden(text, true);
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/**
 * Gives each entry a name that Sallyport allows. A name that has to be changed gets a digest of the original one, so that two of them never
 * become equal, and a name never depends on which other tools the server has.
 */
class EntryNames {
  toolName(name: string): string {
    return NAME_PATTERN.test(name) && !isSurfaceToolName(name) ? name : usable(name, 64);
  }

  surfaceName(kind: Surface['kind'], name: string): string {
    const own = NAME_PATTERN.test(name) && name.length <= MAX_SURFACE_NAME ? name : usable(name, MAX_SURFACE_NAME);
    const key = `${kind} ${own}`;
    if (!this.#taken.has(key)) {
      this.#taken.add(key);
      return own;
    }
    // Resources have display names, which may be equal; their URIs are not.
    this.#number += 1;
    return usable(`${name} ${this.#number}`, MAX_SURFACE_NAME);
  }

  readonly #taken = new Set<string>();
  #number = 1;
}

function usable(name: string, maxLength: number): string {
  // Two dashes are kept for the prefixes of resources and prompts.
  const letters = name.replaceAll(/[^A-Za-z0-9_]+/g, '-').replaceAll(/^[-_]+|-+$/g, '');
  const tag = shortSha256(name, 6).replaceAll(/[-_]/g, '0');
  return `${(letters === '' ? 'tool' : letters).slice(0, maxLength - tag.length - 1)}-${tag}`;
}

function byName(a: UpstreamDefinition, b: UpstreamDefinition): number {
  return a.kind < b.kind || (a.kind === b.kind && a.name < b.name) ? -1 : 1;
}

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : 1;
}
