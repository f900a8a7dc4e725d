import type { FileWriteBack, RichMessage } from './content.ts';
import { laneOfScopedId, type CallId } from './ids.ts';
import type { JsonObject, JsonValue } from './json.ts';

/** What a tool can do on the platform its session is on. `call` is a raw operation; `result` is the outcome of a redirected call. */
export const EFFECT_KINDS = ['send', 'edit', 'react', 'file', 'call', 'result'] as const;
export type EffectKind = (typeof EFFECT_KINDS)[number];

/**
 * queued ─► claimed ─► delivered
 *   ▲          │  └──► failed (kept, shown to operators)
 *   └─ retry ──┘
 *
 * Effects of one call are delivered in the order they were published: the next is claimed when the one before has ended.
 */
export const EFFECT_STATES = ['queued', 'claimed', 'delivered', 'failed'] as const;
export type EffectState = (typeof EFFECT_STATES)[number];

/** `<call id>/<name>`: the name is the effect's number in its call, the tool's own key, or `result`. */
export type EffectKey = `${string}/${string}`;

export interface PlatformMessage {
  readonly text: string;
  /** Cards, embeds, buttons; an adapter that does not know the format shows the text. */
  readonly rich?: RichMessage;
}

/** What is to be done. Crosses the store as MessagePack. */
export type EffectBody =
  | { readonly kind: 'send'; readonly message: PlatformMessage; readonly replyTo?: string }
  | { readonly kind: 'edit'; readonly messageId: string; readonly message: PlatformMessage }
  | { readonly kind: 'react'; readonly messageId: string; readonly reaction: string }
  | { readonly kind: 'file'; readonly file: FileWriteBack; readonly text?: string }
  | { readonly kind: 'call'; readonly operation: string; readonly arguments: JsonObject }
  | { readonly kind: 'result' };

/** What an adapter answered. */
export interface EffectAnswer {
  /** The platform's own id of the message, for `edit` and `react`. */
  readonly messageId?: string;
  /** Of a raw operation. */
  readonly value?: JsonValue;
}

/** Who an effect is for, as the call's session says. Written by the worker, or for a redirect by the caller's side. */
export interface EffectOrigin {
  readonly tenant: string;
  readonly subject: string;
  readonly agent: string;
  readonly session: string;
  readonly tool?: string;
  readonly space?: string;
  /** Where the session is: anything else needs the operator's leave. */
  readonly homePlatform?: string;
  readonly homeChannel?: string;
}

/** An effect as the store knows it. */
export interface EffectRecord {
  readonly key: EffectKey;
  readonly callId: CallId;
  readonly kind: EffectKind;
  readonly platform: string;
  readonly channel: string;
  readonly origin: EffectOrigin;
  readonly state: EffectState;
  /** Times it was claimed; the claim that may finish it is the last one. */
  readonly attempts: number;
  /** Of those, before an operator sent it again. */
  readonly attemptsBefore: number;
  readonly publishedAt: number;
  /** Not claimed before. */
  readonly dueAt: number;
  /** Not delivered by then, it fails. */
  readonly expiresAt: number;
  readonly endedAt?: number;
  readonly bytes: number;
  /** Encoded EffectBody. Absent once it is delivered, unless the platform keeps its messages here. */
  readonly body?: Uint8Array;
  /** Encoded EffectAnswer. */
  readonly answer?: Uint8Array;
  /** Of the last attempt that went wrong. */
  readonly problem?: string;
}

/** Of one call. */
export interface EffectLimits {
  readonly effectsPerCall: number;
  readonly bytesPerCall: number;
}

export const RESULT_NAME = 'result';
/** A name of the tool's own, apart from numbers and from `result`. */
export const EFFECT_NAME_PATTERN = /^[A-Za-z0-9_.:-]{1,64}$/;
const KEY_PATTERN = /^[^/]+\/(?:\d{1,6}|k\.[A-Za-z0-9_.:-]{1,64}|result)$/;

export function effectKey(callId: CallId, name: number | string): EffectKey {
  return typeof name === 'number' || name === RESULT_NAME ? `${callId}/${name}` : `${callId}/k.${name}`;
}

/** Undefined for a text that is no key of an effect. */
export function parseEffectKey(key: string): { readonly callId: CallId; readonly lane: number } | undefined {
  if (!KEY_PATTERN.test(key)) return undefined;
  const callId = key.slice(0, key.indexOf('/'));
  const lane = laneOfScopedId(callId);
  return lane < 0 ? undefined : { callId: callId as CallId, lane };
}
