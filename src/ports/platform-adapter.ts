import type { EffectBody, EffectKey, EffectOrigin } from '../domain/platform-effect.ts';
import type { JsonObject, JsonValue } from '../domain/json.ts';

/**
 * A platform, from the gateway's side: here are its credentials. An adapter never throws for expected trouble, and never waits longer
 * than `signal` allows. It is asked by several calls at once; effects of one call come one after the other.
 */
export interface PlatformAdapter {
  /**
   * Whether a second delivery under the same key changes nothing. If so, effects of a gateway that was lost are delivered again; if
   * not, they fail, because nobody knows whether they went out.
   */
  readonly deduplicates: boolean;
  /** What was delivered stays in the store, to be shown to operators. */
  readonly keepsMessages?: boolean;
  deliver(effect: AdapterEffect, signal: AbortSignal): Promise<DeliveryResult>;
  /** Raw operations. Absent: it has none. */
  call?(operation: AdapterOperation, signal: AbortSignal): Promise<OperationResult>;
  close?(): Promise<void>;
}

export interface AdapterEffect {
  /** The same for every attempt: the idempotency key. */
  readonly key: EffectKey;
  readonly channel: string;
  readonly origin: EffectOrigin;
  readonly body: Exclude<EffectBody, { readonly kind: 'call' | 'result' }>;
  readonly attempt: number;
}

export interface AdapterOperation {
  readonly key: EffectKey;
  readonly channel: string;
  readonly origin: EffectOrigin;
  readonly operation: string;
  readonly arguments: JsonObject;
}

export type DeliveryResult =
  | { readonly kind: 'delivered'; readonly messageId?: string }
  /** Worth another attempt; not before `afterMs`, if the platform says so. */
  | { readonly kind: 'again'; readonly problem: string; readonly afterMs?: number }
  | { readonly kind: 'refused'; readonly problem: string };

export type OperationResult =
  | { readonly kind: 'answered'; readonly value: JsonValue }
  /** It was certainly not done: the platform was not reached, or said "later". */
  | { readonly kind: 'again'; readonly problem: string; readonly afterMs?: number }
  /** Refused, or nobody knows whether it was done. It is not tried again. */
  | { readonly kind: 'refused'; readonly problem: string };
