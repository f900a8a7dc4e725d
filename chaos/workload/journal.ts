import { existsSync, openSync, readFileSync, writeSync } from 'node:fs';
import { monotonicMs } from './monotonic.ts';

/** Appends lines of JSON, each with the time at which it was written. They are kept if their writer is killed. */
export function openJournal<Entry extends object>(file: string): (entry: Entry) => void {
  const descriptor = openSync(file, 'a');
  return (entry) => void writeSync(descriptor, `${JSON.stringify({ atMs: monotonicMs(), ...entry })}\n`);
}

export type Timed<Entry> = Entry & { readonly atMs: number };

export function readJournal<Entry>(file: string): Timed<Entry>[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Timed<Entry>);
}
