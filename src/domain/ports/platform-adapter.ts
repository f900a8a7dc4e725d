import type { EffectBody, EffectKey, EffectOrigin } from '../platform/platform-effect.ts';
import type { JsonObject, JsonValue } from '../../base/json.ts';

/**
 * Sends to one kind of platform, from the gateway, with the platform's credentials. An adapter never throws for expected failures, and
 * never waits longer than `signal` allows. Several calls use it concurrently; the effects of one call come one after the other.
 */
export interface PlatformAdapter {
  /**
   * Whether a second delivery under the same key changes nothing. If so, effects that a lost gateway had claimed are delivered again. If
   * not, they fail, because it is unknown whether that gateway delivered them.
   */
  readonly deduplicates: boolean;
  /** Delivered messages stay in the store, to be shown to operators. */
  readonly keepsMessages?: boolean;
  deliver(effect: AdapterEffect, signal: AbortSignal): Promise<DeliveryResult>;
  /** Runs a raw operation. Absent: the platform has none. */
  call?(operation: AdapterOperation, signal: AbortSignal): Promise<OperationResult>;
  close?(): Promise<void>;
}

export interface AdapterEffect {
  /** The idempotency key: the same for every attempt. */
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
  /** The delivery may succeed later: try again, but not before `afterMs` if the platform gave one. */
  | { readonly kind: 'again'; readonly problem: string; readonly afterMs?: number }
  | { readonly kind: 'refused'; readonly problem: string };

export type OperationResult =
  | { readonly kind: 'answered'; readonly value: JsonValue }
  /** The operation was certainly not done: the platform was not reached, or asked to retry later. */
  | { readonly kind: 'again'; readonly problem: string; readonly afterMs?: number }
  /** Refused, or it is unknown whether it was done. It is not retried. */
  | { readonly kind: 'refused'; readonly problem: string };
