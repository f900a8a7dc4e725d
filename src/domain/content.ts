import type { JsonObject, JsonValue } from './json.ts';

/** What a tool shows the model. Bytes stay bytes: the wire is MessagePack. */
export type ContentBlock =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly mediaType: string; readonly bytes: Uint8Array }
  | { readonly kind: 'audio'; readonly mediaType: string; readonly bytes: Uint8Array }
  | { readonly kind: 'file'; readonly name: string; readonly mediaType: string; readonly bytes: Uint8Array }
  | { readonly kind: 'structured'; readonly value: JsonValue }
  | ResourceBlock;

/** A resource, as it was read or embedded in an answer. */
export type ResourceBlock = {
  readonly kind: 'resource';
  readonly uri: string;
  readonly mediaType?: string;
} & ({ readonly text: string } | { readonly bytes: Uint8Array });

/** A file the tool hands over beside its answer. */
export interface FileWriteBack {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** A message for the conversation beside the answer: cards, embeds, buttons. The platform's adapter renders it. */
export interface RichMessage {
  readonly format: string;
  readonly body: JsonObject;
}

/** A tool offered to the same run only, still subject to selection and permission. */
export interface InjectedTool {
  readonly tool: string;
  readonly description?: string;
}

export interface WriteBacks {
  readonly files: readonly FileWriteBack[];
  readonly messages: readonly RichMessage[];
  readonly injectedTools: readonly InjectedTool[];
  /** What the call cost, as its tool counted it. Absent: what the tool declares. */
  readonly cost?: number;
}

/** The most a call can cost: millionths of it, summed up for a run, stay exact. */
export const MOST_COST = 1_000_000;

export const NO_WRITE_BACKS: WriteBacks = Object.freeze({
  files: Object.freeze([]),
  messages: Object.freeze([]),
  injectedTools: Object.freeze([]),
});
