/** Milliseconds since a time of the monotonic clock, rounded to the microsecond. */
export function elapsedMs(since: number): number {
  return Math.round((performance.now() - since) * 1000) / 1000;
}
