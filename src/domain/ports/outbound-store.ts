import type { CallRecord } from '../call/call.ts';
import type { EffectKey, EffectKind, EffectOrigin, EffectRecord, EffectState } from '../platform/platform-effect.ts';
import type { CallerId, CallId, SessionId } from '../identity/ids.ts';
import type { OwnedCall } from './call-requests.ts';

/**
 * Stores what tools do on platforms until a gateway has delivered it. Only the worker that owns a call publishes its effects. A call that
 * runs again publishes under the same keys, so each effect exists once. Gateways claim effects, one per call at a time, and report how each
 * ended. The rules of `CallStore` apply here too.
 */
export interface OutboundStore
  extends EffectPublishing, EffectDelivery, EffectReader, EffectList, EffectRetry, CallRedirects, OwnCalls {}

/** Publishes effects, for the worker that owns the call. */
export interface EffectPublishing {
  /**
   * Checks the fence and publishes in one step. If the key is known, nothing is published, and the answer has the state of the known
   * effect.
   */
  publishEffect(request: PublishEffectRequest): Promise<PublishEffectAnswer>;
}

/** Hands effects to the gateways that deliver them. */
export interface EffectDelivery {
  /**
   * Takes effects that are due, waiting up to `waitMs` for the first. Before that, the store fails expired effects and deletes old ones. If
   * the gateway that claimed an effect was lost, another gateway gets the effect; if a second delivery could send a second message, the
   * effect fails instead. A request with the same `claimId` returns the same effects again.
   */
  claimEffects(request: ClaimEffectsRequest): Promise<ClaimedEffects>;
  /**
   * Reports how the delivery of an effect ended. Answers `lost` unless this gateway made the last claim. When an effect has ended, its
   * waiter is notified, and the next effect of the same call can be claimed.
   */
  finishEffect(request: FinishEffectRequest): Promise<'finished' | 'lost'>;
  /** Publishes the outcomes of settled calls that have a redirect. Returns how many. */
  sendRedirects(request: SendRedirectsRequest): Promise<number>;
}

/** Reads one effect. */
export interface EffectReader {
  readEffect(key: EffectKey): Promise<EffectRecord | undefined>;
}

/** Lists effects, for operators and the console. */
export interface EffectList {
  /** Lists newest first. */
  listEffects(request: ListEffectsRequest): Promise<EffectRecord[]>;
}

/** Sends a failed effect again, for operators. */
export interface EffectRetry {
  /** Queues a failed effect for delivery again. Raw operations are not sent again, because no tool waits for their answer any more. */
  retryEffect(key: EffectKey): Promise<'queued' | 'not-failed' | 'body-gone' | 'unknown'>;
}

/** Sends the outcome of a call to a channel, for callers. */
export interface CallRedirects {
  /** Publishes the call's outcome as the effect `<call id>/result` once the call is settled, but not before `afterMs`. */
  redirectCall(request: RedirectRequest): Promise<'redirected' | 'sent' | 'unknown'>;
  /** Removes the redirect. Called when a caller received the outcome directly. */
  dropRedirect(callId: CallId): Promise<'dropped' | 'none'>;
}

/** Lists the calls of one subject, for the tools of the module `tasks`. */
export interface OwnCalls {
  /** Unsettled calls of one subject, without their outcomes. */
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
  /** Notified by an event when the effect has ended. */
  readonly waiter?: { readonly callerId: CallerId; readonly correlationId: string };
  /** Max bytes of effects that wait for delivery in one lane; beyond it, the answer is `full`. */
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
  /**
   * `redeliver`: the platform deduplicates, so an effect is delivered again if the gateway that claimed it was lost. Otherwise such an
   * effect fails.
   */
  readonly platforms: readonly { readonly name: string; readonly redeliver: boolean }[];
  readonly limit: number;
  readonly leaseMs: number;
  readonly waitMs: number;
  /** Ended effects are kept this long, and in any case until their call cannot run again. */
  readonly retentionMs: number;
  /** Max bytes of ended effects in one lane. Beyond it, the bodies of the oldest ones are deleted. */
  readonly maxKeptBytes: number;
}

export interface ClaimedEffects {
  readonly effects: readonly EffectRecord[];
  readonly now: number;
}

export type EffectEnding =
  /** `keep`: the body stays stored, to be shown to operators. */
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
  /** The call must belong to the agent of this session, or to an agent that acts for that one, and to the same subject. */
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
