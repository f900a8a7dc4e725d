import { hash } from 'node:crypto';
import { BoundedCache } from '../../../base/bounded-cache.ts';

/**
 * Each dimension is stored in one byte, from -127 to 127. That is a quarter of the size of 32-bit numbers, and precise enough for ranking.
 */
const LARGEST = 127;
const TAG_BYTES = 8;

/** Packs a vector behind a tag of the model that made it, because vectors of different models cannot be compared. */
export function packVector(model: string, vector: readonly number[]): Uint8Array {
  const largest = vector.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
  const packed = new Uint8Array(TAG_BYTES + vector.length);
  packed.set(tagOf(model));
  const directions = new Int8Array(packed.buffer, TAG_BYTES);
  for (const [index, value] of vector.entries()) {
    directions[index] = largest === 0 ? 0 : Math.round((value / largest) * LARGEST);
  }
  return packed;
}

export function isOfModel(model: string, packed: Uint8Array): boolean {
  return Buffer.compare(packed.subarray(0, TAG_BYTES), tagOf(model)) === 0;
}

/** Cosine of the angle between two vectors of the same model; 0 when their dimensions differ. */
export function similarity(one: Uint8Array, other: Uint8Array): number {
  const [a, b] = [directionsOf(one), directionsOf(other)];
  if (a.length !== b.length) return 0;
  let [product, squaresOfA, squaresOfB] = [0, 0, 0];
  for (let index = 0; index < a.length; index += 1) {
    const [x, y] = [a[index]!, b[index]!];
    product += x * y;
    squaresOfA += x * x;
    squaresOfB += y * y;
  }
  return squaresOfA === 0 || squaresOfB === 0 ? 0 : product / Math.sqrt(squaresOfA * squaresOfB);
}

function directionsOf(packed: Uint8Array): Int8Array {
  return new Int8Array(packed.buffer, packed.byteOffset + TAG_BYTES, packed.byteLength - TAG_BYTES);
}

/** Tags by model, for the whole process: a search checks the tag of every stored vector, and a deployment has only a few models. */
const tags = new BoundedCache<string, Buffer>(64);

function tagOf(model: string): Buffer {
  return tags.getOrMake(model, hashModel);
}

function hashModel(model: string): Buffer {
  return hash('sha256', model, 'buffer').subarray(0, TAG_BYTES);
}
