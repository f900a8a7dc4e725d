// Part of an instrumented build: every function calls `enter` first. All processes and threads append to one file, so the order of its
// lines is the order in which the functions were entered.
import { openSync, writeSync } from 'node:fs';
import { threadId } from 'node:worker_threads';

// A child process gets no environment, so it writes nothing: its functions are not part of the walk.
const path = process.env.SALLYPORT_WALK;
const file = path === undefined ? undefined : openSync(path, 'a');
const place = `${process.pid}.${threadId}`;

export function enter(number) {
  if (file !== undefined) writeSync(file, `${place} ${number}\n`);
}

/** Writes a line of the driver of the walk (drive.mjs) between the lines of the functions. */
export function mark(text) {
  writeSync(file, `mark ${text}\n`);
}
