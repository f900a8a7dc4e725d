import { monotonicMs } from './monotonic.ts';

/** A period in which a process could not run: it was stopped, or the machine was busy. */
export interface Stall {
  readonly pid: number;
  readonly fromMs: number;
  readonly toMs: number;
}

const LOOK_EVERY_MS = 50;
const WORTH_TELLING_MS = 250;

/** Records stalls of this process. A delay in which the process could not run is no fault of the plane, so checks of times leave it out. */
export function watchStalls(note: (stall: Stall) => void): void {
  let lastMs = monotonicMs();
  setInterval(() => {
    const nowMs = monotonicMs();
    if (nowMs - lastMs > WORTH_TELLING_MS) note({ pid: process.pid, fromMs: lastMs, toMs: nowMs });
    lastMs = nowMs;
  }, LOOK_EVERY_MS).unref();
}
