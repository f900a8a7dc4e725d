import { PlaneError, type PlaneErrorCode } from '../../domain/errors.ts';
import type { Log } from '../../ports/log.ts';

/** Something that the store has to do about a digest. Each beat tries it again until the store has done it. */
export interface Work {
  readonly digest: string;
  /** Joins the try that is under way, if there is one. */
  attempt(): Promise<void>;
}

/** More than a gateway can serve at once. Past it nothing new is asked of a store that does not answer. */
export const MAX_UNFINISHED = 10_000;

/** A later try can succeed: when the store is back or has room, or its operator has made a change. */
const PASSING: ReadonlySet<string> = new Set([
  'STORE_UNAVAILABLE',
  'STORE_FULL',
  'STORE_LOGIN',
  'STORE_FORBIDDEN',
  'STORE_LIBRARY',
] satisfies PlaneErrorCode[]);

/** The store may have carried out the request, although it failed. `INTERNAL`: its answer was not understood. */
export function mayBeDone(error: unknown): boolean {
  return !(error instanceof PlaneError) || error.code === 'STORE_UNAVAILABLE' || error.code === 'INTERNAL';
}

/** What is given up is reported like what is tried again: with the next beat, one line for all of it. */
export class UnfinishedWork {
  /** By entry, or by the request to hold one. */
  readonly #works = new Map<object, Work>();
  readonly #failures = new Map<string, { count: number; error: unknown }>();
  readonly #log: Pick<Log, 'warn'>;

  constructor(log: Pick<Log, 'warn'>) {
    this.#log = log;
  }

  get size(): number {
    return this.#works.size;
  }

  /** Replaces what was to be done about the same entry. */
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

  /** Rejects when one of them fails: an identical request must not find an entry held that was let go of already. */
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

  /** One line for all failures with the same message. */
  report(): void {
    for (const [message, { count, error }] of this.#failures) this.#log.warn({ error, count }, message);
    this.#failures.clear();
  }
}
