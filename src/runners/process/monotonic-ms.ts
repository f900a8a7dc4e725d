const ORIGIN_MS = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** A moment of `performance.now()` on the monotonic clock of the system, which all processes of a machine share. */
export function monotonicMs(performanceMs: number = performance.now()): number {
  return ORIGIN_MS + performanceMs;
}
