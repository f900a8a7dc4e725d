/**
 * A cache of at most `maxEntries` values that can be computed again from their keys. When it is full, it is emptied. Evicting the least
 * recently used entry would slow down every read, and a cache that is full often is too small anyway.
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

  /** If `make` throws, nothing is cached and the error is passed on. */
  getOrMake(key: Key, make: (key: Key) => Value): Value {
    return this.#entries.get(key) ?? this.set(key, make(key));
  }
}
