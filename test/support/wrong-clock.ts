/** The environment of a Node process whose clock is behind. The clock is right again as soon as the file `until` exists. */
export function wrongClock(behindMs: number, until?: string): Record<string, string> {
  return {
    NODE_OPTIONS: `--import ${new URL('wrong-clock.mjs', import.meta.url).href}`,
    WRONG_CLOCK_BEHIND_MS: String(behindMs),
    ...(until === undefined ? {} : { WRONG_CLOCK_UNTIL: until }),
  };
}
