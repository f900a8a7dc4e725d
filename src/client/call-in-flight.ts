import type { CallEvent } from '../domain/call/call-event.ts';
import type { PublishedTool } from '../domain/tool/catalog.ts';
import type { CallId } from '../domain/identity/ids.ts';
import type { JsonObject } from '../base/json.ts';
import type { CallIntake } from '../domain/ports/call-store.ts';
import type { AcceptRequest } from '../domain/ports/call-requests.ts';
import { accept, type CallAcceptance } from '../stages/accept/accept.ts';
import type { CallerEmitter } from '../stages/accept/caller-emitter.ts';
import { ReplyWaiter, type ReplyReader } from '../stages/answer/reply-reader.ts';
import { decode } from '../base/message-pack.ts';
import { decodeOutcome } from '../domain/outcome/outcome-bytes.ts';
import { settledAnswer, type CallAnswer, type CallOptions } from './call-answer.ts';
import type { KnownSession } from './known-sessions.ts';
import type { WaitList, WaitTimers, TimedWait } from './wait-timers.ts';
import type { Redirects, RedirectTarget } from './redirect.ts';

/**
 * Milliseconds between the end of the wait and the redirect. In this time a caller that gets the outcome after all can cancel the redirect.
 */
const CALL_OFF_MS = 2000;

/** The requested call, shared by all tries of it. The first try generates the key. */
export interface RequestedCall {
  readonly session: KnownSession;
  readonly tool: PublishedTool;
  readonly arguments: JsonObject;
  readonly options: CallOptions;
  readonly key: string;
  readonly attempt: number;
  /** Present while there are event listeners. */
  readonly events: CallerEmitter | undefined;
}

/** What a call in flight needs from its client. */
export interface CallInFlightNeeds {
  readonly store: CallIntake;
  readonly replies: ReplyReader;
  readonly timers: WaitTimers;
  cancel(session: KnownSession, callId: CallId): void;
  readonly redirects: Redirects;
  /** Called when the tool changed since the caller saw it. Returns the answer of another try, or `stale`. */
  tryAgain(requested: RequestedCall, stale: CallAnswer): Promise<CallAnswer>;
}

/**
 * One try of one call. Its states are: accept request sent, under way, ended. A reply, or the failure of the reply reader, may arrive
 * before the accept answer. Both are held until then, because only the accept answer contains the call id.
 */
export class CallInFlight extends ReplyWaiter implements TimedWait {
  readonly #needs: CallInFlightNeeds;
  readonly #requested: RequestedCall;
  #resolve!: (answer: CallAnswer | Promise<CallAnswer>) => void;
  #reject!: (error: unknown) => void;
  #early: Uint8Array | undefined = undefined;
  #failure: { readonly error: unknown } | undefined = undefined;
  #onAbort: (() => void) | undefined = undefined;
  #redirecting: Promise<unknown> | undefined = undefined;
  waitsUntil = 0;
  list: WaitList | undefined = undefined;
  before: TimedWait | undefined = undefined;
  after: TimedWait | undefined = undefined;

  constructor(needs: CallInFlightNeeds, requested: RequestedCall, correlationId: string) {
    super(requested.session.lane, correlationId);
    this.#needs = needs;
    this.#requested = requested;
  }

  send(request: AcceptRequest): Promise<CallAnswer> {
    const answered = new Promise<CallAnswer>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#needs.replies.enter(this);
    try {
      accept(request, this.#needs.store).then(
        (acceptance) => this.#answered(acceptance),
        (error: unknown) => this.#giveUp(error),
      );
    } catch (error) {
      this.#giveUp(error);
    }
    return answered;
  }

  #answered(acceptance: CallAcceptance): void {
    try {
      this.#requested.events?.answered(acceptance);
      if (acceptance.kind === 'under-way') return this.#underWay(acceptance.callId);
      this.#leave();
      if (acceptance.kind === 'replayed') this.#end(settledAnswer(acceptance.callId, acceptance.outcome));
      else this.#end(acceptance);
    } catch (error) {
      this.#giveUp(error);
    }
  }

  #underWay(callId: CallId): void {
    const { tool, options } = this.#requested;
    this.#needs.replies.accepted(this, callId);
    if (options.onEvent !== undefined) this.#emit({ kind: 'queued', callId });
    if (this.#failure !== undefined) return this.#giveUp(this.#failure.error);
    if (options.signal !== undefined) this.#listenTo(options.signal, callId);
    const waitMs = options.waitMs ?? tool.tool.limits.waitMs;
    if (options.redirect !== undefined) this.#redirect(options.redirect, callId, waitMs);
    if (this.#early !== undefined) this.settled(this.#early);
    else this.#needs.timers.start(this, waitMs);
  }

  /**
   * Stores the redirect before the wait starts, so that it also works if this process dies. It fires a little after the wait ends, so that
   * a caller that is still here can cancel it.
   */
  #redirect(target: RedirectTarget, callId: CallId, waitMs: number): void {
    const { redirects } = this.#needs;
    this.#redirecting = redirects.redirect(this.#requested.session, callId, target, waitMs + CALL_OFF_MS);
    this.#redirecting.catch((error: unknown) => this.#giveUp(error));
  }

  #listenTo(signal: AbortSignal, callId: CallId): void {
    const onAbort = (): void => this.#needs.cancel(this.#requested.session, callId);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    this.#onAbort = onAbort;
  }

  settled(outcome: Uint8Array): void {
    const { callId } = this;
    if (callId === undefined) return void (this.#early = outcome);
    try {
      if (this.#requested.options.onEvent !== undefined) this.#emit({ kind: 'settled', callId });
      const decoded = decodeOutcome(outcome);
      this.#requested.events?.replied(decoded);
      if (this.#redirecting === undefined) return this.#end(settledAnswer(callId, decoded));
      // The caller has the outcome now, so cancel the redirect: the outcome is not also sent to the channel.
      this.#redirecting
        .then(() => this.#needs.redirects.drop(callId))
        .catch(() => undefined)
        .finally(() => this.#end(settledAnswer(callId, decoded)));
    } catch (error) {
      this.#giveUp(error);
    }
  }

  failed(error: unknown): void {
    if (this.callId === undefined) this.#failure = { error };
    else this.#giveUp(error);
  }

  receive(event: Uint8Array): void {
    this.#requested.options.onEvent?.(decode(event) as CallEvent);
  }

  onTimeout(): void {
    const callId = this.callId!;
    this.#leave();
    this.#requested.events?.leftPending();
    if (this.#requested.options.onEvent !== undefined) this.#emit({ kind: 'pending', callId });
    if (this.#redirecting === undefined) return this.#end({ kind: 'pending', callId });
    // Answer `pending` only after the redirect is stored. If storing it failed, the redirect's own error has already rejected the call.
    void this.#redirecting.then(
      () => this.#end({ kind: 'pending', callId }),
      () => undefined,
    );
  }

  #leave(): void {
    this.#needs.replies.leave(this);
  }

  #end(answer: CallAnswer): void {
    this.#rest();
    const isStale = answer.kind === 'settled' && answer.outcome.kind === 'stale';
    this.#resolve(isStale ? this.#needs.tryAgain(this.#requested, answer) : answer);
  }

  #giveUp(error: unknown): void {
    this.#leave();
    this.#rest();
    this.#reject(error);
  }

  #rest(): void {
    this.#needs.timers.stop(this);
    if (this.#onAbort !== undefined) this.#requested.options.signal!.removeEventListener('abort', this.#onAbort);
  }

  /** An error thrown by the caller's listener becomes a process warning. The call continues, and its answer is still returned. */
  #emit(event: CallEvent): void {
    try {
      this.#requested.options.onEvent!(event);
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error));
    }
  }
}
