export interface TimedRun {
  /** On the monotonic clock. */
  readonly endsAt: number;
  timeIsUp(): void;
}

/** Timers cannot count further; a run that may take longer is looked at again. */
const MOST_TIMER_MS = 2 ** 31 - 1;

/**
 * One timer for all runs, set for the one that ends first: a timer for each costs more than a short run. A run that ends early leaves
 * the timer as it is; when it rings for nobody, it is set again.
 */
export class DeadlineWatch {
  readonly #runs = new Set<TimedRun>();
  #timer: NodeJS.Timeout | undefined;
  #ringsAt = Number.POSITIVE_INFINITY;

  add(run: TimedRun): void {
    this.#runs.add(run);
    if (run.endsAt < this.#ringsAt) this.#setFor(run.endsAt);
    else if (this.#runs.size === 1) this.#timer?.ref();
  }

  delete(run: TimedRun): void {
    // Nobody is left to wait for: the timer must not keep the process.
    if (this.#runs.delete(run) && this.#runs.size === 0) this.#timer?.unref();
  }

  #setFor(endsAt: number): void {
    clearTimeout(this.#timer);
    this.#ringsAt = endsAt;
    const waitMs = Math.min(MOST_TIMER_MS, Math.max(1, Math.ceil(endsAt - performance.now())));
    this.#timer = setTimeout(() => this.#ring(), waitMs);
  }

  #ring(): void {
    this.#timer = undefined;
    this.#ringsAt = Number.POSITIVE_INFINITY;
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const run of this.#runs) {
      if (run.endsAt > now) {
        next = Math.min(next, run.endsAt);
      } else {
        this.#runs.delete(run);
        run.timeIsUp();
      }
    }
    if (next < this.#ringsAt) this.#setFor(next);
  }
}
