import type { FileWriteBack, RichMessage } from '../outcome/content.ts';
import { laneOfScopedId, type CallId } from '../identity/ids.ts';
import type { JsonObject, JsonValue } from '../../base/json.ts';

/** What a tool can do on the platform of its session. `call` is a raw operation; `result` is the outcome of a redirected call. */
export const EFFECT_KINDS = ['send', 'edit', 'react', 'file', 'call', 'result'] as const;
export type EffectKind = (typeof EFFECT_KINDS)[number];

/**
 * queued ─► claimed ─► delivered
 *   ▲          │  └──► failed (kept, shown to operators)
 *   └─ retry ──┘
 *
 * Effects of one call are delivered in the order in which they were published: the next one is claimed after the one before it has ended.
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

/** What an effect does. Passes through the store as MessagePack. */
export type EffectBody =
  | { readonly kind: 'send'; readonly message: PlatformMessage; readonly replyTo?: string }
  | { readonly kind: 'edit'; readonly messageId: string; readonly message: PlatformMessage }
  | { readonly kind: 'react'; readonly messageId: string; readonly reaction: string }
  | { readonly kind: 'file'; readonly file: FileWriteBack; readonly text?: string }
  | { readonly kind: 'call'; readonly operation: string; readonly arguments: JsonObject }
  | { readonly kind: 'result' };

/** The answer of a platform's adapter to an effect. */
export interface EffectAnswer {
  /** The platform's own id of the message. A later `edit` or `react` names it. */
  readonly messageId?: string;
  /** The result of a raw operation. */
  readonly value?: JsonValue;
}

/**
 * The identity that an effect is for, taken from the call's session. The worker writes it; for a redirect, the caller's process writes it.
 */
export interface EffectOrigin {
  readonly tenant: string;
  readonly subject: string;
  readonly agent: string;
  readonly session: string;
  readonly tool?: string;
  readonly space?: string;
  /** The session's own platform; `homeChannel` is its channel there. Sending anywhere else needs the operator's permission. */
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
  /** Number of times that gateways claimed the effect. Only the gateway with the last claim may report how it ended. */
  readonly attempts: number;
  /** The part of `attempts` that was made before an operator sent the effect again. */
  readonly attemptsBefore: number;
  readonly publishedAt: number;
  /** The effect is not claimed before this time. */
  readonly dueAt: number;
  /** An effect that is not delivered by this time fails. */
  readonly expiresAt: number;
  readonly endedAt?: number;
  readonly bytes: number;
  /** Encoded EffectBody. Absent after the effect is delivered, unless the platform keeps its messages in the store. */
  readonly body?: Uint8Array;
  /** Encoded EffectAnswer. */
  readonly answer?: Uint8Array;
  /** The problem of the last attempt that failed. */
  readonly problem?: string;
}

/** Limits on the effects of one call. */
export interface EffectLimits {
  readonly effectsPerCall: number;
  readonly bytesPerCall: number;
}

export const RESULT_NAME = 'result';
/**
 * The form of a name that a tool may give to its effect. In effect keys such names get the prefix `k.`, so that none equals a number or
 * `result`.
 */
export const EFFECT_NAME_PATTERN = /^[A-Za-z0-9_.:-]{1,64}$/;
const KEY_PATTERN = /^[^/]+\/(?:\d{1,6}|k\.[A-Za-z0-9_.:-]{1,64}|result)$/;

export function effectKey(callId: CallId, name: number | string): EffectKey {
  return typeof name === 'number' || name === RESULT_NAME ? `${callId}/${name}` : `${callId}/k.${name}`;
}

/** Parses the key of an effect; undefined if the text is not such a key. */
export function parseEffectKey(key: string): { readonly callId: CallId; readonly lane: number } | undefined {
  if (!KEY_PATTERN.test(key)) return undefined;
  const callId = key.slice(0, key.indexOf('/'));
  const lane = laneOfScopedId(callId);
  return lane < 0 ? undefined : { callId: callId as CallId, lane };
}
