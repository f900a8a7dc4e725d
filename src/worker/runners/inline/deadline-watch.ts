export interface TimedRun {
  /** Time on the monotonic clock (`performance.now()`), in ms. */
  readonly endsAt: number;
  timeIsUp(): void;
  /** Maintained by the watch: the run's index in its list, -1 if it is not in the list. */
  place: number;
}

/** Longest timeout of a timer. For a longer run the timer is set again. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * One timer for all runs, set for the run that ends first: a timer per run costs more than a short run. A run that ends early leaves the
 * timer as it is. If the timer fires and no run is due, it is set again.
 */
export class DeadlineWatch {
  /** Unordered. Not a Set: entries deleted from an old Set can keep young objects alive until the next full garbage collection. */
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
    // No run is left, so the timer must not keep the process alive.
    if (this.#runs.length === 0) this.#timer?.unref();
  }

  #setFor(endsAt: number): void {
    clearTimeout(this.#timer);
    this.#ringsAt = endsAt;
    const waitMs = Math.min(MAX_TIMER_MS, Math.max(1, Math.ceil(endsAt - performance.now())));
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
