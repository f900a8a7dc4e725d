import { randomFillSync } from 'node:crypto';

/**
 * Random bytes that the whole process shares. Filling them at once saves a system call for each id and salt, which would take longer than
 * everything else in accepting a call. No byte is used twice.
 */
const pool = Buffer.allocUnsafeSlow(8 * 1024);
let used = pool.length;

/** Returns random bytes as text that never begins with a dash. Use it for a few dozen bytes at once, not more. */
export function randomText(bytes: number, encoding: 'hex' | 'base64url'): string {
  const start = take(bytes);
  if (encoding === 'base64url') avoidDash(pool, start);
  return pool.toString(encoding, start, start + bytes);
}

/** Returns random bytes in a new array, which later calls do not change. */
export function randomCopy(bytes: number): Uint8Array {
  const start = take(bytes);
  return Uint8Array.from(pool.subarray(start, start + bytes));
}

function take(bytes: number): number {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const start = used;
  used += bytes;
  return start;
}

/** Index of "-" in the alphabet of base64url. */
const DASH = 62;

/**
 * Changes random bytes whose base64url text would begin with "-". A command line takes such a text for an option: it then refuses an id, or
 * repeats a secret in its error.
 */
export function avoidDash(bytes: Buffer, at = 0): void {
  if (bytes[at]! >> 2 === DASH) bytes[at] = bytes[at]! & 0x7f;
}
