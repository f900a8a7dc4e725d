import { canonicalJson } from '../../base/canonical-json.ts';
import type { JsonObject } from '../../base/json.ts';
import { sha256 } from '../../base/sha256.ts';

/** The lists of an MCP server. */
export const DEFINITION_KINDS = ['tool', 'resource', 'template', 'prompt'] as const;
export type DefinitionKind = (typeof DEFINITION_KINDS)[number];

/** One entry of a list of an MCP server. Everything in it was written by a stranger. */
export interface UpstreamDefinition {
  readonly kind: DefinitionKind;
  /** What the server is asked by: the name of a tool or prompt, the URI of a resource, the URI template of a template. */
  readonly name: string;
  /** The members that are pinned, as the server sent them: see `PINNED_MEMBERS`. */
  readonly body: JsonObject;
}

/** Everything that a server offered at one time. */
export interface UpstreamOffer {
  /** Name, version, title and instructions of the server. */
  readonly server: JsonObject;
  readonly definitions: readonly UpstreamDefinition[];
}

/** The members of a definition that a model or a person may see, or that decide what may be sent. Others are dropped. */
export const PINNED_MEMBERS: Readonly<Record<DefinitionKind, readonly string[]>> = {
  tool: ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations'],
  resource: ['name', 'title', 'description', 'uri', 'mimeType', 'annotations'],
  template: ['name', 'title', 'description', 'uriTemplate', 'mimeType', 'annotations'],
  prompt: ['name', 'title', 'description', 'arguments'],
};

/** Names a definition within its server. */
export function definitionKey({ kind, name }: Pick<UpstreamDefinition, 'kind' | 'name'>): string {
  return `${kind} ${name}`;
}

export function definitionDigest({ kind, body }: Pick<UpstreamDefinition, 'kind' | 'body'>): string {
  return sha256(canonicalJson([kind, body]));
}
