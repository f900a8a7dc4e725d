import type { JsonObject, JsonValue } from '../../base/json.ts';

/** One block of what a tool shows the model. Bytes stay binary, because the wire format is MessagePack. */
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

/** A file that the tool returns in addition to its answer. */
export interface FileWriteBack {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** A message for the conversation in addition to the answer: cards, embeds, buttons. The platform's adapter renders it. */
export interface RichMessage {
  readonly format: string;
  readonly body: JsonObject;
}

/** A tool that a call adds to its own run. Selection and permission still apply to it. */
export interface InjectedTool {
  readonly tool: string;
  readonly description?: string;
}

export interface WriteBacks {
  readonly files: readonly FileWriteBack[];
  readonly messages: readonly RichMessage[];
  readonly injectedTools: readonly InjectedTool[];
  /** The cost of the call as its tool counted it. Absent: the cost that the tool declares applies. */
  readonly cost?: number;
}

/** Max cost of a call. Up to this value, the cost of a run, counted in millionths, stays an exact number. */
export const MAX_COST = 1_000_000;

export const NO_WRITE_BACKS: WriteBacks = Object.freeze({
  files: Object.freeze([]),
  messages: Object.freeze([]),
  injectedTools: Object.freeze([]),
});
