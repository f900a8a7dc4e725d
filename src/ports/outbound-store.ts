import type { CallRecord } from '../domain/call.ts';
import type { EffectKey, EffectKind, EffectOrigin, EffectRecord, EffectState } from '../domain/platform-effect.ts';
import type { CallerId, CallId, SessionId } from '../domain/ids.ts';
import type { OwnedCall } from './call-store.ts';

/**
 * What tools do on platforms, on its way out. An effect is published by the owner of its call and by nobody else; its key makes it one
 * effect, however often the call is run. The gateway's side claims effects, one of a call at a time, and says what became of them.
 * The rules of `CallStore` hold here too.
 */
export interface OutboundStore {
  /** Fence check and publication in one step. A key that is known answers with what became of it, and is not published again. */
  publishEffect(request: PublishEffectRequest): Promise<PublishEffectAnswer>;

  /**
   * Takes effects that are due, waiting up to `waitMs` for the first. Before, ends what has expired, gives effects of lost claimants to
   * others (or fails them, where a second delivery could be a second message), and forgets what is old. The same `claimId` again gives
   * the same effects.
   */
  claimEffects(request: ClaimEffectsRequest): Promise<ClaimedEffects>;

  /** By the last claimant only. An effect that ended frees the next one of its call, and whoever waits for it is told. */
  finishEffect(request: FinishEffectRequest): Promise<'finished' | 'lost'>;

  readEffect(key: EffectKey): Promise<EffectRecord | undefined>;
  /** Newest first. */
  listEffects(request: ListEffectsRequest): Promise<EffectRecord[]>;
  /** A failed effect is sent once more, by an operator's word. Raw operations are not: nobody waits for them any more. */
  retryEffect(key: EffectKey): Promise<'queued' | 'not-failed' | 'body-gone' | 'unknown'>;

  /** From `afterMs` on, the call's outcome is published as the effect `<call id>/result` as soon as there is one. */
  redirectCall(request: RedirectRequest): Promise<'redirected' | 'sent' | 'unknown'>;
  /** Somebody got the outcome after all. */
  dropRedirect(callId: CallId): Promise<'dropped' | 'none'>;
  /** Publishes the outcomes of redirected calls that have settled. Returns how many. */
  sendRedirects(request: SendRedirectsRequest): Promise<number>;

  /** Calls of one subject that are not settled, without their outcomes. */
  listOwnCalls(request: ListOwnCallsRequest): Promise<CallRecord[]>;
}

export interface PublishEffectRequest extends OwnedCall {
  readonly key: EffectKey;
  readonly kind: EffectKind;
  readonly platform: string;
  readonly channel: string;
  readonly origin: EffectOrigin;
  /** Encoded EffectBody. */
  readonly body: Uint8Array;
  readonly deliverWithinMs: number;
  /** Told, by an event, when the effect has ended. */
  readonly waiter?: { readonly callerId: CallerId; readonly correlationId: string };
  /** Bytes that may wait in one lane. */
  readonly maxQueuedBytes: number;
}

export type PublishEffectAnswer =
  | { readonly kind: 'published' }
  | { readonly kind: 'known'; readonly state: EffectState }
  | { readonly kind: 'fenced' }
  /** The same key was published with another kind or another target. */
  | { readonly kind: 'conflict' }
  | { readonly kind: 'full' };

export interface ClaimEffectsRequest {
  readonly lane: number;
  readonly gatewayId: string;
  readonly claimId: string;
  /** `redeliver`: an effect of a lost claimant is delivered again, because a second delivery changes nothing. */
  readonly platforms: readonly { readonly name: string; readonly redeliver: boolean }[];
  readonly limit: number;
  readonly leaseMs: number;
  readonly waitMs: number;
  /** Ended effects are kept so long, and in any case until their call cannot run again. */
  readonly retentionMs: number;
  /** Of ended effects in one lane; the oldest lose their bodies. */
  readonly maxKeptBytes: number;
}

export interface ClaimedEffects {
  readonly effects: readonly EffectRecord[];
  readonly now: number;
}

export type EffectEnding =
  /** `keep`: the body stays, to be shown to operators. */
  | { readonly kind: 'delivered'; readonly answer: Uint8Array; readonly keep: boolean }
  | { readonly kind: 'failed'; readonly problem: string }
  | { readonly kind: 'retry'; readonly problem: string; readonly afterMs: number };

export interface FinishEffectRequest {
  readonly key: EffectKey;
  readonly gatewayId: string;
  readonly attempts: number;
  readonly ending: EffectEnding;
  readonly retentionMs: number;
  readonly maxKeptBytes: number;
}

export interface ListEffectsRequest {
  readonly platform?: string;
  readonly channel?: string;
  readonly state?: EffectState;
  readonly limit: number;
}

export interface RedirectRequest {
  readonly callId: CallId;
  /** The call must belong to this session's subject. */
  readonly session: { readonly id: SessionId; readonly tokenDigest: string };
  readonly platform: string;
  readonly channel: string;
  readonly origin: EffectOrigin;
  readonly afterMs: number;
  readonly deliverWithinMs: number;
}

export interface SendRedirectsRequest {
  readonly lane: number;
  readonly limit: number;
}

export interface ListOwnCallsRequest {
  readonly lane: number;
  readonly scope: string;
  readonly limit: number;
}
