import { InvalidArgumentError } from 'commander';

const MAX = 10_000;

/** Reads a whole number from 1 to MAX, for options such as `--limit`. */
export function readCount(text: string): number {
  const count = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= MAX) return count;
  throw new InvalidArgumentError(`Expected a whole number from 1 to ${MAX}.`);
}
