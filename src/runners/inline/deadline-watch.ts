export interface TimedRun {
  /** On the monotonic clock. */
  readonly endsAt: number;
  timeIsUp(): void;
  /** Kept by the watch: where it stands in its list, -1 when it does not. */
  place: number;
}

/** Timers cannot count further; a run that may take longer is looked at again. */
const MOST_TIMER_MS = 2 ** 31 - 1;

/**
 * One timer for all runs, set for the one that ends first: a timer for each costs more than a short run. A run that ends early leaves
 * the timer as it is; when it rings for nobody, it is set again.
 */
export class DeadlineWatch {
  /** In no order. Not a Set: what was deleted from an old one can keep young objects until the next full collection. */
  readonly #runs: TimedRun[] = [];
  #timer: NodeJS.Timeout | undefined;
  #ringsAt = Number.POSITIVE_INFINITY;

  add(run: TimedRun): void {
    run.place = this.#runs.push(run) - 1;
    if (run.endsAt < this.#ringsAt) this.#setFor(run.endsAt);
    else if (run.place === 0) this.#timer?.ref();
  }

  delete(run: TimedRun): void {
    if (run.place < 0) return;
    const last = this.#runs.pop()!;
    if (last !== run) this.#runs[(last.place = run.place)] = last;
    run.place = -1;
    // Nobody is left to wait for: the timer must not keep the process.
    if (this.#runs.length === 0) this.#timer?.unref();
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
    const over: TimedRun[] = [];
    for (const run of this.#runs) {
      if (run.endsAt <= now) over.push(run);
      else next = Math.min(next, run.endsAt);
    }
    for (const run of over) {
      this.delete(run);
      run.timeIsUp();
    }
    if (next < this.#ringsAt) this.#setFor(next);
  }
}
