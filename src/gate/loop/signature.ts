import { hash } from 'node:crypto';
import { SIGNATURE_LENGTH } from '../../domain/call/attempt.ts';

/** The short digest that attempts carry. Its 48 bits are enough to tell the calls of a run apart, and 128 attempts travel with a call. */
export function signatureOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, SIGNATURE_LENGTH);
}
