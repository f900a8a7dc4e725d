const ORIGIN_MS = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** Converts a `performance.now()` time to the monotonic clock of the system, which all processes of a machine share. */
export function monotonicMs(performanceMs: number = performance.now()): number {
  return ORIGIN_MS + performanceMs;
}
