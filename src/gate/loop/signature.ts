import { hash } from 'node:crypto';
import { SIGNATURE_LENGTH } from '../../domain/call/attempt.ts';

/**
 * The short digest that is stored with attempts. 48 bits are enough to distinguish the calls of a run. It is short because up to 128
 * attempts are sent along with each call.
 */
export function signatureOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, SIGNATURE_LENGTH);
}
