import { planeError } from '../../../domain/errors/errors.ts';
import type { Transaction } from '../transaction.ts';

/** `expected` is the incarnation that the client received when it opened the store. */
export function checkIncarnation({ database }: Transaction, expected: string): void {
  const found = database.get<{ id: string }>('SELECT id FROM incarnation')?.id ?? 'none';
  if (found !== expected) throw planeError('STORE_REPLACED', { expected, found });
}
