/**
 * Store time in milliseconds: the wall clock, but never backwards. When the wall clock is set back, store time continues from where it was at the
 * speed of the monotonic clock, so that leases and deadlines still expire.
 */
export class StoreClock {
  readonly #wall: () => number;
  readonly #monotonic: () => number;
  #last: number;
  #lastMonotonic: number;

  constructor(notBefore: number, wall: () => number = Date.now, monotonic: () => number = () => performance.now()) {
    this.#wall = wall;
    this.#monotonic = monotonic;
    this.#last = notBefore;
    this.#lastMonotonic = monotonic();
  }

  now(): number {
    const monotonic = this.#monotonic();
    const goneBy = Math.max(0, Math.floor(monotonic - this.#lastMonotonic));
    this.#last = Math.max(this.#wall(), this.#last + goneBy);
    // Only whole milliseconds are used; the rest counts towards the next one.
    this.#lastMonotonic = this.#lastMonotonic + goneBy;
    return this.#last;
  }
}
