const SLAB_BYTES = 256 * 1024;

let slab = Buffer.alloc(0);
let used = 0;

/**
 * Bytes to write to, cut from a larger piece: memory of its own for each of them costs more than filling it. Nothing is used a
 * second time; a piece goes when the last that was cut from it goes, so these are for what is sent and forgotten.
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
