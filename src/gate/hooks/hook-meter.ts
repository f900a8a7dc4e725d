import type { HookEventName, HookFailure, HookHealth } from '../../domain/policy/hook.ts';

/** The percentile is computed from this many of the latest durations. */
const KEPT_DURATIONS = 128;

/** Counts what one hook does. */
export interface HookMeter {
  took(durationMs: number): void;
  /** Increments the counter and returns its new value. */
  count(what: 'blocked' | 'asked' | 'changed' | 'dropped'): number;
  failed(how: HookFailure): void;
  read(): HookHealth;
}

export function createHookMeter(hook: string, on: HookEventName): HookMeter {
  const counts = { blocked: 0, asked: 0, changed: 0, failed: 0, timedOut: 0, dropped: 0 };
  const durations = new Float64Array(KEPT_DURATIONS);
  let calls = 0;
  let lastFailureAt: number | undefined;

  function percentile95(): number {
    const kept = durations.slice(0, Math.min(calls, KEPT_DURATIONS)).sort();
    return kept[Math.ceil(kept.length * 0.95) - 1]!;
  }

  return {
    took(durationMs) {
      durations[calls % KEPT_DURATIONS] = durationMs;
      calls += 1;
    },
    count(what) {
      return (counts[what] += 1);
    },
    failed(how) {
      counts.failed += 1;
      if (how === 'timed-out') counts.timedOut += 1;
      lastFailureAt = Date.now();
    },
    read: () => ({
      hook,
      on,
      calls,
      ...counts,
      ...(lastFailureAt === undefined ? {} : { lastFailureAt }),
      ...(calls === 0 ? {} : { p95Ms: Math.round(percentile95() * 1000) / 1000 }),
    }),
  };
}
