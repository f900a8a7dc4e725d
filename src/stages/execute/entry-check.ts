import type { Ending } from '../../domain/call/ending.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import { andThen } from '../../base/and-then.ts';
import type { RunEnding, StartCheck } from '../../domain/ports/tool-runner.ts';

/** Whether an allowed call may still be started. See `src/stages/start-permit.ts`. */
export interface Permit {
  readonly validUntil: number;
  marked(): void;
  stopFor(): MaybePromise<Ending | undefined>;
}

/** The permit in the form that a runner checks. If it stops a run before its tool is entered, the call ends as the permit decides. */
export class EntryCheck implements StartCheck {
  readonly #permit: Permit;
  #stopped: Ending | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(permit: Permit) {
    this.#permit = permit;
  }

  get validUntil(): number {
    return this.#permit.validUntil;
  }

  stopFor(): MaybePromise<RunEnding | undefined> {
    const stopping = andThen(this.#permit.stopFor(), (stop) => this.#endingOf(stop));
    return stopping instanceof Promise ? stopping.catch((error: unknown) => this.#fail(error)) : stopping;
  }

  /** How the call ends, if its tool was not entered. Rethrows the error of the store: the call is left for recovery. */
  get stopped(): Ending | undefined {
    if (this.#failure !== undefined) throw this.#failure.error;
    return this.#stopped;
  }

  #endingOf(stop: Ending | undefined): RunEnding | undefined {
    if (stop === undefined) return undefined;
    this.#stopped = stop;
    return stop.kind === 'ended' ? { kind: 'not-run', outcome: stop.outcome } : { kind: 'aborted' };
  }

  #fail(error: unknown): RunEnding {
    this.#failure = { error };
    return { kind: 'aborted' };
  }
}
