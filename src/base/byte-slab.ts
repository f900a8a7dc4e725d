const SLAB_BYTES = 256 * 1024;

/**
 * The buffer from which `takeBytes` cuts parts, one for the whole process. Its unused rest, at most `SLAB_BYTES`, is kept for later calls.
 */
let slab = Buffer.alloc(0);
let used = 0;

/**
 * Returns bytes to write to, cut from a larger buffer, because a separate allocation costs more than filling it. No part is reused. A
 * buffer is freed only when all its parts are, so use this only for data that is sent and then dropped.
 */
export function takeBytes(length: number): Buffer {
  if (length > SLAB_BYTES / 4) return Buffer.allocUnsafeSlow(length);
  if (used + length > slab.length) {
    slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
    used = 0;
  }
  const bytes = slab.subarray(used, used + length);
  used += length;
  return bytes;
}
