/** Milliseconds of the machine's monotonic clock. It is the same in all processes, and the clock jumps of a run do not change it. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000;
}
