import { planeError } from '../../domain/errors/errors.ts';
import type { RateLimit } from './rate-limit.ts';

/** Max concurrent proofs and max waiting proofs, for all addresses together that have used up their budget. */
const MAX_PROOFS = 4;
const MAX_WAITING = 256;

/**
 * Limits wrong credentials per address. Each attempt is counted before the store is asked; if it were counted afterwards, any number of
 * concurrent attempts would reach the store. An address that has used up its budget can still get in with valid credentials, since callers
 * may share one address with an attacker. The proofs of such addresses wait for their turn, a few at a time for the whole gateway, and a
 * wrong one is answered RATE_LIMITED. Secrets have 256 bits, so the budget protects the store and the log, not the secrets.
 */
export class FailureBudget {
  readonly #wrong: RateLimit;
  readonly #waiting: (() => void)[] = [];
  #proofs = 0;

  constructor(wrong: RateLimit) {
    this.#wrong = wrong;
  }

  /**
   * Returns what `ask` returns; undefined means that the credential is wrong. If `ask` throws because the store does not answer, that does
   * not count as a failure of the caller.
   */
  async prove<Proof>(address: string, ask: () => Promise<Proof | undefined>): Promise<Proof | undefined> {
    const waitMs = this.#wrong.take(address);
    if (waitMs > 0) return this.#proveInTurn(waitMs, ask);
    let isWrong = false;
    try {
      const proof = await ask();
      isWrong = proof === undefined;
      return proof;
    } finally {
      if (!isWrong) this.#wrong.giveBack(address);
    }
  }

  /** Counts a credential that was valid a moment ago and is wrong now. */
  count(address: string): void {
    this.#wrong.take(address);
  }

  async #proveInTurn<Proof>(waitMs: number, ask: () => Promise<Proof | undefined>): Promise<Proof> {
    if (this.#proofs >= MAX_PROOFS) {
      if (this.#waiting.length >= MAX_WAITING) throw planeError('RATE_LIMITED', { retryAfterMs: waitMs });
      await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    } else this.#proofs += 1;
    try {
      const proof = await ask();
      if (proof === undefined) throw planeError('RATE_LIMITED', { retryAfterMs: waitMs });
      return proof;
    } finally {
      const next = this.#waiting.shift();
      // The place passes to the next waiting proof without becoming free in between.
      if (next === undefined) this.#proofs -= 1;
      else next();
    }
  }
}
