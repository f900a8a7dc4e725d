export interface RateSettings {
  readonly perSecond: number;
  /** How many at once, after a pause. */
  readonly burst: number;
}

interface Bucket {
  left: number;
  at: number;
}

/** Bounded: who comes with many keys only forgets the oldest of them, which had the longest time to refill. */
const MAX_KEYS = 10_000;

/** A token bucket per key. In memory: each gateway counts for itself. */
export class RateLimit {
  readonly #settings: RateSettings;
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(settings: RateSettings, now: () => number = () => performance.now()) {
    this.#settings = settings;
    this.#now = now;
  }

  /** Takes one. 0: it was there; otherwise nothing was taken, and after so many milliseconds there will be one. */
  take(key: string): number {
    const bucket = this.#refilled(key);
    if (bucket.left < 1) return this.#waitMs(bucket);
    bucket.left -= 1;
    return 0;
  }

  /** Gives one back that need not have been taken. */
  giveBack(key: string): void {
    const bucket = this.#refilled(key);
    bucket.left = Math.min(this.#settings.burst, bucket.left + 1);
  }

  /** How long until there is one, without taking it. */
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
