import { hash } from 'node:crypto';
import { SIGNATURE_LENGTH } from '../../domain/attempt.ts';

/** The short digest that attempts carry: 48 bits tell a run's calls apart, and 128 of them travel with a call. */
export function signatureOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, SIGNATURE_LENGTH);
}

/** From `-`, the first letter of base64url, to `z`, the last one. */
const LETTERS = 78;
const HALF = LETTERS ** 4;
const LEAST = 45 * (LETTERS ** 3 + LETTERS ** 2 + LETTERS + 1);

/**
 * A signature as a number: eight letters fit exactly, and numbers are compared many times faster than texts. What is no signature
 * gets some other number.
 */
export function codeOf(signature: string): number {
  if (signature.length !== SIGNATURE_LENGTH) return foreignCode(signature);
  return (halfOf(signature, 0) - LEAST) * HALF + (halfOf(signature, 4) - LEAST);
}

function halfOf(text: string, from: number): number {
  const first = text.charCodeAt(from) * LETTERS + text.charCodeAt(from + 1);
  return (first * LETTERS + text.charCodeAt(from + 2)) * LETTERS + text.charCodeAt(from + 3);
}

function foreignCode(text: string): number {
  let mixed = text.length;
  for (let index = 0; index < Math.min(text.length, 64); index += 1) {
    mixed = (Math.imul(mixed, 31) + text.charCodeAt(index)) | 0;
  }
  return -1 - (mixed >>> 0);
}
