import type { Client } from '@modelcontextprotocol/client';
import {
  definitionKey,
  PINNED_MEMBERS,
  type DefinitionKind,
  type UpstreamDefinition,
  type UpstreamOffer,
} from '../domain/upstream/definition.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { ANY_RESULT } from './any-result.ts';
import { UpstreamProblem } from './upstream-problem.ts';

const MAX_PAGES = 200;
const MAX_DEFINITIONS = 2000;
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_NAME = 2048;
const MAX_SERVER = 256 * 1024;
/** How JSON writes half a surrogate pair. */
const HALF_PAIR = /(?<!\\)(?:\\\\)*\\ud[89a-f][0-9a-f]{2}/;
const SERVER_MEMBERS = ['name', 'title', 'version', 'websiteUrl'];

export interface ReadOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/**
 * Reads everything that a server offers now. Throws UpstreamProblem if it is too much, or if the server gives the same name twice: then it
 * would not be known which of the two a call means.
 */
export async function readOffer(client: Client, { signal, timeoutMs }: ReadOptions): Promise<UpstreamOffer> {
  const { tools, resources, prompts } = client.getServerCapabilities() ?? {};
  const budget = new OfferBudget();
  const read = async (kind: DefinitionKind): Promise<UpstreamDefinition[]> => {
    const { method, member } = LISTS[kind];
    const found: UpstreamDefinition[] = [];
    let cursor: JsonValue | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const params = cursor === undefined ? {} : { cursor };
      const result = (await client.request({ method, params }, ANY_RESULT, {
        signal,
        timeout: timeoutMs,
      })) as JsonObject;
      const items = result[member];
      if (!Array.isArray(items)) throw new UpstreamProblem(`its answer to ${method} has no list`);
      for (const item of items) found.push(budget.take(toDefinition(kind, item)));
      cursor = result['nextCursor'];
      if (typeof cursor !== 'string') return found;
    }
    throw new UpstreamProblem(`its list of ${kind}s has more than ${MAX_PAGES} pages`);
  };
  // One list after the other: servers that were written for one person do not expect several requests at the same time.
  const definitions: UpstreamDefinition[] = [];
  if (tools !== undefined) definitions.push(...(await read('tool')));
  if (resources !== undefined) definitions.push(...(await read('resource')), ...(await read('template')));
  if (prompts !== undefined) definitions.push(...(await read('prompt')));
  return { server: describeServer(client), definitions };
}

const LISTS: Readonly<Record<DefinitionKind, { readonly method: string; readonly member: string }>> = {
  tool: { method: 'tools/list', member: 'tools' },
  resource: { method: 'resources/list', member: 'resources' },
  template: { method: 'resources/templates/list', member: 'resourceTemplates' },
  prompt: { method: 'prompts/list', member: 'prompts' },
};

/** Counts what a server sends. Without a limit, an endless list would fill the memory of the worker. */
class OfferBudget {
  readonly #keys = new Set<string>();
  #bytes = 0;

  take(definition: UpstreamDefinition): UpstreamDefinition {
    const key = definitionKey(definition);
    if (this.#keys.has(key))
      throw new UpstreamProblem(`it offers the ${definition.kind} ${show(definition.name)} twice`);
    this.#keys.add(key);
    if (this.#keys.size > MAX_DEFINITIONS)
      throw new UpstreamProblem(`it offers more than ${MAX_DEFINITIONS} definitions`);
    const text = JSON.stringify([definition.name, definition.body]);
    // Half a surrogate pair has no canonical form, so it could not be pinned.
    if (HALF_PAIR.test(text))
      throw new UpstreamProblem(`its ${definition.kind} ${show(definition.name)} is not well-formed text`);
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes > MAX_BYTES) throw new UpstreamProblem(`its definitions have more than ${MAX_BYTES} bytes`);
    return definition;
  }
}

const NAMED_BY: Readonly<Record<DefinitionKind, string>> = {
  tool: 'name',
  resource: 'uri',
  template: 'uriTemplate',
  prompt: 'name',
};

function toDefinition(kind: DefinitionKind, item: JsonValue): UpstreamDefinition {
  const name = isJsonObject(item) ? item[NAMED_BY[kind]] : undefined;
  if (!isJsonObject(item) || typeof name !== 'string' || name === '' || name.length > MAX_NAME)
    throw new UpstreamProblem(`it offers a ${kind} without a usable name`);
  return { kind, name, body: pick(item, PINNED_MEMBERS[kind]) };
}

function describeServer(client: Client): JsonObject {
  const version = JSON.parse(JSON.stringify(client.getServerVersion() ?? {})) as JsonObject;
  const instructions = client.getInstructions();
  const server = { ...pick(version, SERVER_MEMBERS), ...(instructions === undefined ? {} : { instructions }) };
  const text = JSON.stringify(server);
  if (HALF_PAIR.test(text)) throw new UpstreamProblem('what it says about itself is not well-formed text');
  if (text.length > MAX_SERVER)
    throw new UpstreamProblem(`what it says about itself has more than ${MAX_SERVER} characters`);
  return server;
}

function pick(object: JsonObject, members: readonly string[]): JsonObject {
  return Object.fromEntries(members.flatMap((name) => (Object.hasOwn(object, name) ? [[name, object[name]!]] : [])));
}

function show(name: string): string {
  return JSON.stringify(name.slice(0, 80));
}
