import type { CallEvent } from '../domain/call/call-event.ts';
import type { PublishedTool } from '../domain/tool/catalog.ts';
import type { CallId } from '../domain/identity/ids.ts';
import type { JsonObject } from '../base/json.ts';
import type { AcceptAnswer, AcceptRequest, CallIntake } from '../domain/ports/call-store.ts';
import { toAcceptance } from '../stages/accept/accept.ts';
import type { CallerEmitter } from '../stages/accept/caller-emitter.ts';
import { ReplyWaiter, type ReplyReader } from '../stages/answer/reply-reader.ts';
import { decode } from '../base/message-pack.ts';
import { decodeOutcome } from '../domain/outcome/outcome-bytes.ts';
import { settledAnswer, type CallAnswer, type CallOptions } from './call-answer.ts';
import type { KnownSession } from './known-sessions.ts';
import type { WaitList, WaitTimers, TimedWait } from './wait-timers.ts';
import type { Redirects, RedirectTarget } from './redirect.ts';

/** Milliseconds between the end of the wait and the redirect, so that a caller that is still waiting can cancel the redirect. */
const CALL_OFF_MS = 2000;

/** The requested call, shared by all tries of it. The first try generates the key. */
export interface CallMeta {
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
  readonly patience: WaitTimers;
  cancel(session: KnownSession, callId: CallId): void;
  readonly redirects: Redirects;
  /** Called when the tool changed since the caller saw it. Returns the answer of another try, or `stale`. */
  tryAgain(wish: CallMeta, stale: CallAnswer): Promise<CallAnswer>;
}

/**
 * One try of one call. Its states are: accept request sent, under way, ended. A reply, or the failure of the reply reader, may arrive
 * before the accept answer. Both are held until then, because only the accept answer contains the call id.
 */
export class CallInFlight extends ReplyWaiter implements TimedWait {
  readonly #home: CallInFlightNeeds;
  readonly #wish: CallMeta;
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

  constructor(home: CallInFlightNeeds, wish: CallMeta, correlationId: string) {
    super(wish.session.lane, correlationId);
    this.#home = home;
    this.#wish = wish;
  }

  send(request: AcceptRequest): Promise<CallAnswer> {
    const answered = new Promise<CallAnswer>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#home.replies.enter(this);
    try {
      this.#home.store.acceptCall(request).then(
        (answer) => this.#answered(answer),
        (error: unknown) => this.#giveUp(error),
      );
    } catch (error) {
      this.#giveUp(error);
    }
    return answered;
  }

  #answered(answer: AcceptAnswer): void {
    try {
      const { events } = this.#wish;
      if (answer.kind === 'accepted' || answer.kind === 'attached') {
        events?.answered({ kind: 'under-way', callId: answer.callId, attached: answer.kind === 'attached' });
        return this.#underWay(answer.callId);
      }
      this.#leave();
      const acceptance = toAcceptance(answer);
      events?.answered(acceptance);
      if (acceptance.kind === 'replayed') this.#end(settledAnswer(acceptance.callId, acceptance.outcome));
      else if (acceptance.kind === 'refused') this.#end(acceptance);
    } catch (error) {
      this.#giveUp(error);
    }
  }

  #underWay(callId: CallId): void {
    const { tool, options } = this.#wish;
    this.#home.replies.accepted(this, callId);
    if (options.onEvent !== undefined) this.#tell({ kind: 'queued', callId });
    if (this.#failure !== undefined) return this.#giveUp(this.#failure.error);
    if (options.signal !== undefined) this.#heed(options.signal, callId);
    const waitMs = options.waitMs ?? tool.tool.limits.waitMs;
    if (options.redirect !== undefined) this.#redirect(options.redirect, callId, waitMs);
    if (this.#early !== undefined) this.settled(this.#early);
    else this.#home.patience.start(this, waitMs);
  }

  /**
   * Stores the redirect before the wait starts, so that it also works if this process dies. It fires a little after the wait ends, so that
   * a caller that is still here can cancel it.
   */
  #redirect(target: RedirectTarget, callId: CallId, waitMs: number): void {
    const { redirects } = this.#home;
    this.#redirecting = redirects.redirect(this.#wish.session, callId, target, waitMs + CALL_OFF_MS);
    this.#redirecting.catch((error: unknown) => this.#giveUp(error));
  }

  #heed(signal: AbortSignal, callId: CallId): void {
    const onAbort = (): void => this.#home.cancel(this.#wish.session, callId);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    this.#onAbort = onAbort;
  }

  settled(outcome: Uint8Array): void {
    const { callId } = this;
    if (callId === undefined) return void (this.#early = outcome);
    try {
      if (this.#wish.options.onEvent !== undefined) this.#tell({ kind: 'settled', callId });
      const decoded = decodeOutcome(outcome);
      this.#wish.events?.replied(decoded);
      if (this.#redirecting === undefined) return this.#end(settledAnswer(callId, decoded));
      // The caller has the outcome now, so cancel the redirect: the outcome is not also sent to the channel.
      this.#redirecting
        .then(() => this.#home.redirects.drop(callId))
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

  heard(event: Uint8Array): void {
    this.#wish.options.onEvent?.(decode(event) as CallEvent);
  }

  onTimeout(): void {
    const callId = this.callId!;
    this.#leave();
    this.#wish.events?.leftPending();
    if (this.#wish.options.onEvent !== undefined) this.#tell({ kind: 'pending', callId });
    if (this.#redirecting === undefined) return this.#end({ kind: 'pending', callId });
    // Answer `pending` only after the redirect is stored. If storing it failed, the redirect's own error has already rejected the call.
    void this.#redirecting.then(
      () => this.#end({ kind: 'pending', callId }),
      () => undefined,
    );
  }

  #leave(): void {
    this.#home.replies.leave(this);
  }

  #end(answer: CallAnswer): void {
    this.#rest();
    const isStale = answer.kind === 'settled' && answer.outcome.kind === 'stale';
    this.#resolve(isStale ? this.#home.tryAgain(this.#wish, answer) : answer);
  }

  #giveUp(error: unknown): void {
    this.#leave();
    this.#rest();
    this.#reject(error);
  }

  #rest(): void {
    this.#home.patience.stop(this);
    if (this.#onAbort !== undefined) this.#wish.options.signal!.removeEventListener('abort', this.#onAbort);
  }

  /** An error thrown by the caller's listener becomes a process warning. The call continues, and its answer is still returned. */
  #tell(event: CallEvent): void {
    try {
      this.#wish.options.onEvent!(event);
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error));
    }
  }
}
