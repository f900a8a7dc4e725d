import { OUTCOME_KINDS, type Outcome } from '../domain/outcome.ts';
import { planeError } from '../domain/errors.ts';
import { decode, encode } from './message-pack.ts';

/** Bytes stay bytes: files and images are not base64 on the wire. */
export function encodeOutcome(outcome: Outcome): Uint8Array {
  return encode(outcome);
}

export function decodeOutcome(bytes: Uint8Array): Outcome {
  const value = decode(bytes) as Partial<Outcome> | null;
  if (value === null || typeof value !== 'object' || !OUTCOME_KINDS.includes(value.kind as Outcome['kind'])) {
    throw planeError('INTERNAL', { problem: 'an outcome in the store cannot be read' });
  }
  return value as Outcome;
}
