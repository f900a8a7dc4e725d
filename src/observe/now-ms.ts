/** What has to be added to the monotonic clock, as of the last look. */
let offsetMs = Date.now() - performance.now();

/**
 * Milliseconds since 1970, to the microsecond: stages are shorter than the tick of the wall clock. Follows that clock within a
 * millisecond, however often it is set.
 */
export function nowMs(): number {
  const [wall, monotonic] = [Date.now(), performance.now()];
  const ahead = monotonic + offsetMs - wall;
  if (ahead < 0 || ahead > 1) offsetMs += (ahead < 0 ? 0 : 1) - ahead;
  return Math.round((monotonic + offsetMs) * 1000) / 1000;
}
