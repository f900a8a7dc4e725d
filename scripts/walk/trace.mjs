// Part of an instrumented build: every function calls `enter` first. All processes and threads append to one file, so that its order is
// the order in which they were entered.
import { openSync, writeSync } from 'node:fs';
import { threadId } from 'node:worker_threads';

// A child process gets no environment, and its functions are not part of the walk.
const path = process.env.SALLYPORT_WALK;
const file = path === undefined ? undefined : openSync(path, 'a');
const place = `${process.pid}.${threadId}`;

export function enter(number) {
  if (file !== undefined) writeSync(file, `${place} ${number}\n`);
}

/** A line of the one who drives the walk, between those of the functions. */
export function mark(text) {
  writeSync(file, `mark ${text}\n`);
}
