import { hash } from 'node:crypto';
import { SIGNATURE_LENGTH } from '../../domain/attempt.ts';

/** The short digest that attempts carry: 48 bits tell a run's calls apart, and 128 of them travel with a call. */
export function signatureOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, SIGNATURE_LENGTH);
}
