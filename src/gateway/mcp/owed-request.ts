import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { EarlierCall, HeldCall, Holding } from './owed-calls.ts';

/** What became of the response to a request: `finished`, all of it was written; `closed`, the connection ended first. */
export type Sent = 'finished' | 'closed';

/** One request and its response, as the transport sees them. */
export interface Exchange {
  /** When the request arrived, by `performance.now()`. */
  readonly cameAt: number;
  readonly sent: Promise<Sent>;
}

/**
 * The entries that one request holds among the calls owed, until it is answered. If the response ends before there is an answer, for
 * whatever reason, or the client cancels, the request is lost. From then on a repeat of the request can take its calls, even while they
 * run.
 */
export class OwedRequest {
  readonly #sent: Promise<Sent> | undefined;
  readonly #held = new Set<HeldCall>();
  #earlier: EarlierCall | undefined = undefined;
  #isAnswered = false;
  #isLost = false;

  /** `signal` is aborted when the client cancels. The client then has no use for an answer, and may at once send the same request again. */
  constructor(sent: Promise<Sent> | undefined, signal: AbortSignal) {
    this.#sent = sent;
    void sent?.then(() => this.#end());
    if (signal.aborted) this.#end();
    else signal.addEventListener('abort', () => this.#end(), { once: true });
  }

  get hasEntry(): boolean {
    return this.#held.size > 0;
  }

  /** True if the connection ended, or the client cancelled, before there was an answer. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Set if the request was answered with an earlier call that its client did not name. */
  get earlier(): EarlierCall | undefined {
    return this.#earlier;
  }

  /** Digest of the entry that was held last. A client that shows a form sends it back, so that the next request finds the entry. */
  get lastDigest(): string | undefined {
    return [...this.#held].at(-1)?.digest;
  }

  /**
   * Keeps the entry until the request is answered. `isNamed`: the client itself sent the call's id, so the answer need not say that it is
   * about an earlier call.
   */
  async keep(holding: Promise<Holding>, { isNamed = false } = {}): Promise<Holding> {
    const found = await holding;
    if (found.kind !== 'held') return found;
    this.#held.add(found.held);
    this.#earlier = isNamed ? undefined : found.held.earlier;
    if (this.#isLost) await found.held.lose();
    return found;
  }

  /** Drops the entry that was taken last. Its call will not run any more, so the same request makes another call. */
  async drop(): Promise<void> {
    const last = [...this.#held].at(-1);
    if (last === undefined) return;
    this.#held.delete(last);
    this.#earlier = undefined;
    await last.leave();
  }

  /**
   * Lets a repeat take the calls, because the client is asked to come back. If that answer cannot be written, the calls are marked as lost
   * instead.
   */
  async owe(lifetimeMs: number): Promise<void> {
    this.#isAnswered = true;
    const held = [...this.#held];
    await Promise.all(held.map((each) => each.owe({ lifetimeMs })));
    void this.#sent?.then((sent) => {
      if (sent === 'closed') for (const each of held) void each.lose();
    });
  }

  /**
   * Marks the calls as lost, so that any repeat can take them: the client gets no answer, or an answer that does not show the outcome of
   * its call.
   */
  async lose(): Promise<void> {
    this.#isAnswered = true;
    await Promise.all([...this.#held].map((each) => each.lose()));
  }

  /**
   * Called when there is an answer. Once it is written, the client has what it asked for, and a repeat is a new call. With `formMs` the
   * answer is a form: a repeat can take the calls if the client has not come back with the form after that time. None of this delays the
   * answer.
   */
  answer(formMs?: number): void {
    if (this.#isLost) return;
    this.#isAnswered = true;
    const held = [...this.#held];
    void (this.#sent ?? Promise.resolve<Sent>('finished')).then((sent) => {
      for (const each of held) {
        if (sent === 'closed') void each.lose();
        else void (formMs === undefined ? each.leave() : each.owe({ afterMs: formMs }));
      }
    });
  }

  /** Removes the entries: the call ended before it ran, so there is no outcome to come back for. */
  async forget(): Promise<void> {
    this.#isAnswered = true;
    await Promise.all([...this.#held].map((held) => held.leave()));
  }

  #end(): void {
    if (this.#isAnswered) return;
    this.#isLost = true;
    void this.lose();
  }
}

/**
 * True if the call ended before it ran because the request that made it was cancelled: there is no outcome that a repeat could get. A call
 * that was cancelled by its id, in particular by an operator, is not made again.
 */
export function isCalledOff({ kind, executed, error }: Outcome): boolean {
  return kind === 'cancelled' && executed === 'no' && error?.facts?.['by'] === 'request';
}
