/**
 * A cache of at most `maxEntries` values that can be made again from their keys. When it is full it starts over: an order of use would cost
 * every read time, and a cache that overflows often is too small anyway.
 */
export class BoundedCache<Key, Value> {
  readonly #entries = new Map<Key, Value>();
  readonly #maxEntries: number;

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  set(key: Key, value: Value): Value {
    if (this.#entries.size >= this.#maxEntries) this.#entries.clear();
    this.#entries.set(key, value);
    return value;
  }

  /** What `make` throws is thrown, and nothing is kept. */
  getOrMake(key: Key, make: (key: Key) => Value): Value {
    return this.#entries.get(key) ?? this.set(key, make(key));
  }
}
