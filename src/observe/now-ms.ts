/** The difference between the wall clock and the monotonic clock, as of the last call. */
let offsetMs = Date.now() - performance.now();

/**
 * Milliseconds since 1970, precise to the microsecond, because stages are shorter than a tick of the wall clock. Stays within one
 * millisecond of the wall clock, however often that clock is set.
 */
export function nowMs(): number {
  const [wall, monotonic] = [Date.now(), performance.now()];
  const ahead = monotonic + offsetMs - wall;
  if (ahead < 0 || ahead > 1) offsetMs += (ahead < 0 ? 0 : 1) - ahead;
  return Math.round((monotonic + offsetMs) * 1000) / 1000;
}
