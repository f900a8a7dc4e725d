import type { Outcome } from '../../domain/outcome.ts';
import type { EarlierCall, HeldCall, Holding } from './owed-calls.ts';

/** What became of the response to a request: all of it was written, or its connection ended first. */
export type Sent = 'finished' | 'closed';

/** One request and its response, as the transport sees them. */
export interface Exchange {
  /** When the request came, by `performance.now()`. */
  readonly cameAt: number;
  readonly sent: Promise<Sent>;
}

/**
 * The entries of one request among the calls owed, from the first to the answer. A response that ends before there is an answer was
 * lost, however it ended, and so is one that its client cancels: what the request holds is owed from that moment, while its call may
 * go on.
 */
export class OwedRequest {
  readonly #sent: Promise<Sent> | undefined;
  readonly #held = new Set<HeldCall>();
  #earlier: EarlierCall | undefined = undefined;
  #isAnswered = false;
  #isLost = false;

  /** `signal`: the client cancels. It has no use for an answer, and may send the same request again in the same breath. */
  constructor(sent: Promise<Sent> | undefined, signal: AbortSignal) {
    this.#sent = sent;
    void sent?.then(() => this.#end());
    if (signal.aborted) this.#end();
    else signal.addEventListener('abort', () => this.#end(), { once: true });
  }

  get hasEntry(): boolean {
    return this.#held.size > 0;
  }

  /** Its connection ended, or its client cancelled, before there was an answer. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Set when the request was answered with a call that its client did not name. */
  get earlier(): EarlierCall | undefined {
    return this.#earlier;
  }

  /** A client with a form brings it back: it finds the entry that was held last, and a later round has a digest of its own. */
  get lastDigest(): string | undefined {
    return [...this.#held].at(-1)?.digest;
  }

  /** `isNamed`: the client said which call it means. */
  async keep(holding: Promise<Holding>, { isNamed = false } = {}): Promise<Holding> {
    const found = await holding;
    if (found.kind !== 'held') return found;
    this.#held.add(found.held);
    this.#earlier = isNamed ? undefined : found.held.earlier;
    if (this.#isLost) await found.held.lose();
    return found;
  }

  /** Nothing ran of the call that was taken last, and nothing will: the same again is another call. */
  async drop(): Promise<void> {
    const last = [...this.#held].at(-1);
    if (last === undefined) return;
    this.#held.delete(last);
    this.#earlier = undefined;
    await last.leave();
  }

  /** The client is told to come back. An answer that is lost tells it nothing. */
  async owe(lifetimeMs: number): Promise<void> {
    this.#isAnswered = true;
    const held = [...this.#held];
    await Promise.all(held.map((each) => each.owe({ lifetimeMs })));
    void this.#sent?.then((sent) => {
      if (sent === 'closed') for (const each of held) void each.lose();
    });
  }

  /** The client cannot be told anything, or not what became of its call. */
  async lose(): Promise<void> {
    this.#isAnswered = true;
    await Promise.all([...this.#held].map((each) => each.lose()));
  }

  /**
   * There is an answer. Once it is written the client has what it asked for, and the calls are no longer owed; unless it comes back
   * with a form first (`formMs`). All of this is beside the answer's own way.
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

  /** The call ended before it ran: there is no outcome to come back for. */
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
 * Ended before it ran, because the request that made it was cancelled: there is nothing that a repeat could be given. What anyone
 * cancelled by its name, an operator above all, stays cancelled.
 */
export function isCalledOff({ kind, executed, error }: Outcome): boolean {
  return kind === 'cancelled' && executed === 'no' && error?.facts?.['by'] === 'request';
}
