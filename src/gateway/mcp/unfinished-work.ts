import { PlaneError, type PlaneErrorCode } from '../../domain/errors/errors.ts';
import type { Log } from '../../domain/ports/log.ts';

/**
 * One change that the store has to make to an entry with this digest. It is retried with each beat until the store has made it or refuses
 * it for good.
 */
export interface Work {
  readonly digest: string;
  /** Makes one attempt, or waits for the attempt that is under way. Rejects if the attempt fails. */
  attempt(): Promise<void>;
}

/**
 * Max changes that may wait for the store; more than a gateway can serve at once. Above this limit new requests are refused, because the
 * store does not answer.
 */
export const MAX_UNFINISHED = 10_000;

/** Errors after which a retry can succeed: when the store is back or has room, or after the operator has changed something. */
const PASSING: ReadonlySet<string> = new Set([
  'STORE_UNAVAILABLE',
  'STORE_FULL',
  'STORE_LOGIN',
  'STORE_FORBIDDEN',
  'STORE_LIBRARY',
] satisfies PlaneErrorCode[]);

/** Whether the store may have carried out the request although it failed. `INTERNAL` means that the store's answer was not understood. */
export function mayBeDone(error: unknown): boolean {
  return !(error instanceof PlaneError) || error.code === 'STORE_UNAVAILABLE' || error.code === 'INTERNAL';
}

/**
 * The changes that the store has not confirmed yet. Failures are logged with the next beat, one line per message, both for changes that
 * are retried and for those that were given up.
 */
export class UnfinishedWork {
  /** Keyed by the entry, or by the request to hold one. */
  readonly #works = new Map<object, Work>();
  readonly #failures = new Map<string, { count: number; error: unknown }>();
  readonly #log: Pick<Log, 'warn'>;

  constructor(log: Pick<Log, 'warn'>) {
    this.#log = log;
  }

  get size(): number {
    return this.#works.size;
  }

  /** Replaces an earlier change to the same entry. */
  add(about: object, digest: string, run: () => Promise<unknown>): Work {
    let trying: Promise<void> | undefined;
    const done = (): void => {
      if (this.#works.get(about) === work) this.#works.delete(about);
    };
    const once = async (): Promise<void> => {
      try {
        await run();
        done();
      } catch (error) {
        const isFinal = error instanceof PlaneError && !PASSING.has(error.code);
        if (isFinal) done();
        this.failed(isFinal ? 'owed calls could not be released' : 'owed calls could not be released yet', error);
        throw error;
      } finally {
        trying = undefined;
      }
    };
    const work: Work = { digest, attempt: () => (trying ??= once()) };
    this.#works.set(about, work);
    return work;
  }

  /**
   * Waits until the store has made the changes for this digest. Rejects when one of them fails: otherwise an identical request would find
   * an entry held in the store that this gateway has already released.
   */
  async finish(digest: string): Promise<void> {
    const same = [...this.#works.values()].filter((work) => work.digest === digest);
    await Promise.all(same.map((work) => work.attempt()));
  }

  retry(): void {
    for (const work of this.#works.values()) work.attempt().catch(() => undefined);
  }

  failed(message: string, error: unknown): void {
    const known = this.#failures.get(message);
    if (known === undefined) this.#failures.set(message, { count: 1, error });
    else known.count += 1;
  }

  /** Logs one line for all failures with the same message. */
  report(): void {
    for (const [message, { count, error }] of this.#failures) this.#log.warn({ error, count }, message);
    this.#failures.clear();
  }
}
