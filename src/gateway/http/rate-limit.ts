export interface RateSettings {
  readonly perSecond: number;
  /** How many may be taken at once after a pause. */
  readonly burst: number;
}

interface Bucket {
  left: number;
  at: number;
}

/** Max keys in memory. A client that uses many keys only evicts the oldest keys, which had the longest time to refill. */
const MAX_KEYS = 10_000;

/** A token bucket per key. Kept in memory, so each gateway counts for itself. */
export class RateLimit {
  readonly #settings: RateSettings;
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(settings: RateSettings, now: () => number = () => performance.now()) {
    this.#settings = settings;
    this.#now = now;
  }

  /**
   * Takes one from the bucket. Returns 0 if there was one. Otherwise nothing was taken, and the result is the time in milliseconds until
   * there is one.
   */
  take(key: string): number {
    const bucket = this.#refilled(key);
    if (bucket.left < 1) return this.#waitMs(bucket);
    bucket.left -= 1;
    return 0;
  }

  /** Returns one to the bucket that turned out not to be needed. */
  giveBack(key: string): void {
    const bucket = this.#refilled(key);
    bucket.left = Math.min(this.#settings.burst, bucket.left + 1);
  }

  /** The time in milliseconds until one is available, without taking it. */
  waitMs(key: string): number {
    const known = this.#buckets.get(key);
    if (known === undefined) return 0;
    const bucket = this.#refilled(key);
    return bucket.left < 1 ? this.#waitMs(bucket) : 0;
  }

  #waitMs({ left }: Bucket): number {
    return Math.ceil(((1 - left) / this.#settings.perSecond) * 1000);
  }

  #refilled(key: string): Bucket {
    const now = this.#now();
    const { perSecond, burst } = this.#settings;
    const known = this.#buckets.get(key);
    const left = known === undefined ? burst : Math.min(burst, known.left + ((now - known.at) / 1000) * perSecond);
    const bucket = { left, at: now };
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > MAX_KEYS) this.#buckets.delete(this.#buckets.keys().next().value!);
    return bucket;
  }
}
