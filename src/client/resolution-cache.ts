import { deepFreeze } from '../base/deep-freeze.ts';

/**
 * Why there is no value. `failed`: the build failed, and is not repeated for `failedForMs`. `failed-before`: an earlier build failed within
 * that time. `store-trouble`: the build failed for a transient reason, so the next request tries again. `timed-out`: the build took longer
 * than `timeoutMs`. `cancelled`: the caller's signal was aborted. `closed`: the cache was closed.
 */
export const DROP_REASONS = ['failed', 'failed-before', 'store-trouble', 'timed-out', 'cancelled', 'closed'] as const;
export type DropReason = (typeof DROP_REASONS)[number];

export type Resolution<Value> =
  | { readonly kind: 'resolved'; readonly value: Value }
  | { readonly kind: 'dropped'; readonly reason: DropReason; readonly error: unknown };

/** A value and the modules it was built from. It is evicted when one of them is invalidated. */
export interface Built<Value> {
  readonly value: Value;
  readonly modules: 'all' | readonly string[];
}
export type Build<Value> = (signal: AbortSignal) => Built<Value> | Promise<Built<Value>>;

export interface ResolutionCacheSettings {
  /** Timeout of one build. */
  readonly timeoutMs: number;
  /** How long a failure is cached. */
  readonly failedForMs: number;
  /** Max entries; the oldest is evicted first. */
  readonly maxEntries: number;
  /** Whether an error is transient. A transient failure is not cached. */
  readonly isTransient: (error: unknown) => boolean;
}

type Entry<Value> =
  | { readonly kind: 'value'; readonly value: Value; readonly modules: 'all' | ReadonlySet<string> }
  | { readonly kind: 'failure'; readonly error: unknown; readonly until: number };

interface Flight<Value> {
  readonly key: string;
  readonly controller: AbortController;
  waiters: number;
  outcome: Promise<Resolution<Value>>;
}

/**
 * An in-memory cache: key → value. A value depends only on its key, on the version given to `useVersion`, and on the modules it was built
 * from. Parts that depend on the caller are added later, to a copy. Values are frozen.
 * Requests for a key that is being built share that build; it is aborted when its last waiter has left. An invalidation detaches running
 * builds: requests that already wait still get their value, but it is not cached, and later requests start a new build.
 */
export class ResolutionCache<Value> {
  readonly #settings: ResolutionCacheSettings;
  readonly #entries = new Map<string, Entry<Value>>();
  /** Running builds that new requests may join and whose value will be cached. */
  readonly #joinable = new Map<string, Flight<Value>>();
  readonly #running = new Set<Flight<Value>>();
  #version = '';
  #closed = false;

  constructor(settings: ResolutionCacheSettings) {
    this.#settings = settings;
  }

  resolve(key: string, build: Build<Value>, signal?: AbortSignal): Promise<Resolution<Value>> {
    if (this.#closed) return Promise.resolve(dropped('closed', new Error('the cache is closed')));
    if (signal?.aborted === true) return Promise.resolve(dropped('cancelled', signal.reason));
    const entry = this.#entries.get(key);
    if (entry?.kind === 'value') return Promise.resolve({ kind: 'resolved', value: entry.value });
    if (entry?.kind === 'failure') {
      if (performance.now() < entry.until) return Promise.resolve(dropped('failed-before', entry.error));
      this.#entries.delete(key);
    }
    return this.#join(this.#joinable.get(key) ?? this.#start(key, build), signal);
  }

  /** Evicts everything if the version differs from the last one. */
  useVersion(version: string): void {
    if (version === this.#version) return;
    this.#version = version;
    this.invalidateAll();
  }

  /** Evicts the values built from one module, and all cached failures. An empty id evicts nothing. */
  invalidate(module: string): void {
    if (module === '') return;
    for (const [key, entry] of this.#entries) {
      if (entry.kind === 'failure' || entry.modules === 'all' || entry.modules.has(module)) this.#entries.delete(key);
    }
    // The modules of a running build are not known yet, so detach all running builds.
    this.#joinable.clear();
  }

  invalidateAll(): void {
    this.#entries.clear();
    this.#joinable.clear();
  }

  close(): void {
    this.#closed = true;
    this.invalidateAll();
    const closed = dropped('closed', new Error('the cache is closed'));
    for (const { controller } of this.#running) controller.abort(closed);
  }

  #start(key: string, build: Build<Value>): Flight<Value> {
    const flight = { key, controller: new AbortController(), waiters: 0 } as Flight<Value>;
    this.#joinable.set(key, flight);
    this.#running.add(flight);
    flight.outcome = this.#run(flight, build);
    return flight;
  }

  /** Never rejects. When the signal is aborted, its reason is the resolution that all waiters get. */
  async #run(flight: Flight<Value>, build: Build<Value>): Promise<Resolution<Value>> {
    const { signal } = flight.controller;
    const { timeoutMs } = this.#settings;
    const timedOut = dropped('timed-out', new Error(`not resolved within ${timeoutMs} ms`));
    const timer = setTimeout(() => flight.controller.abort(timedOut), timeoutMs);
    const aborted = new Promise<Resolution<Value>>((resolve) =>
      signal.addEventListener('abort', () => resolve(signal.reason as Resolution<Value>), { once: true }),
    );
    try {
      return await Promise.race([this.#build(flight, build), aborted]);
    } finally {
      clearTimeout(timer);
      this.#running.delete(flight);
      this.#detach(flight);
    }
  }

  async #build(flight: Flight<Value>, build: Build<Value>): Promise<Resolution<Value>> {
    try {
      const { value, modules } = await build(flight.controller.signal);
      deepFreeze(value);
      this.#keep(flight, { kind: 'value', value, modules: modules === 'all' ? 'all' : new Set(modules) });
      return { kind: 'resolved', value };
    } catch (error) {
      if (this.#settings.isTransient(error)) return dropped('store-trouble', error);
      this.#keep(flight, { kind: 'failure', error, until: performance.now() + this.#settings.failedForMs });
      return dropped('failed', error);
    }
  }

  /** Caches the entry only while the build is still joinable; otherwise something was invalidated since it started. */
  #keep(flight: Flight<Value>, entry: Entry<Value>): void {
    if (this.#joinable.get(flight.key) !== flight || flight.controller.signal.aborted) return;
    if (this.#entries.size >= this.#settings.maxEntries) this.#entries.delete(this.#entries.keys().next().value!);
    this.#entries.set(flight.key, entry);
  }

  #join(flight: Flight<Value>, signal: AbortSignal | undefined): Promise<Resolution<Value>> {
    flight.waiters += 1;
    if (signal === undefined) return flight.outcome;
    return new Promise((resolve) => {
      const leave = (): void => {
        resolve(dropped('cancelled', signal.reason));
        flight.waiters -= 1;
        if (flight.waiters > 0) return;
        // Detach first, so that no request joins a build that is being aborted.
        this.#detach(flight);
        flight.controller.abort(dropped('cancelled', signal.reason));
      };
      signal.addEventListener('abort', leave, { once: true });
      void flight.outcome.then((resolution) => {
        signal.removeEventListener('abort', leave);
        resolve(resolution);
      });
    });
  }

  #detach(flight: Flight<Value>): void {
    if (this.#joinable.get(flight.key) === flight) this.#joinable.delete(flight.key);
  }
}

function dropped(reason: DropReason, error: unknown): { kind: 'dropped'; reason: DropReason; error: unknown } {
  return { kind: 'dropped', reason, error };
}
