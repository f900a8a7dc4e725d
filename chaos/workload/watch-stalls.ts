import { monotonicMs } from './monotonic.ts';

/** A process that did not get to run: stopped, or the machine was busy with others. */
export interface Stall {
  readonly pid: number;
  readonly fromMs: number;
  readonly toMs: number;
}

const LOOK_EVERY_MS = 50;
const WORTH_TELLING_MS = 250;

/** What is late because nothing ran at all says nothing about the plane: checks with times leave it out. */
export function watchStalls(note: (stall: Stall) => void): void {
  let lastMs = monotonicMs();
  setInterval(() => {
    const nowMs = monotonicMs();
    if (nowMs - lastMs > WORTH_TELLING_MS) note({ pid: process.pid, fromMs: lastMs, toMs: nowMs });
    lastMs = nowMs;
  }, LOOK_EVERY_MS).unref();
}
