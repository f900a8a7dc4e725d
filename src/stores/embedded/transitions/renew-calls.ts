import type { OwnedCall, RenewAnswer, RenewRequest } from '../../../domain/ports/call-store.ts';
import type { Transaction } from '../transaction.ts';
import { findOwnedCall } from './call-row.ts';

export function renewCalls(transaction: Transaction, { calls }: RenewRequest): RenewAnswer[] {
  return calls.map((owned) => renewCall(transaction, owned));
}

function renewCall(transaction: Transaction, owned: OwnedCall): RenewAnswer {
  const call = findOwnedCall(transaction, owned);
  if (call === undefined) return 'fenced';
  transaction.database.run('UPDATE call SET renewedAt = ? WHERE seq = ?', transaction.now, call.seq);
  return call.cancelRequested === 1 ? 'cancel' : 'renewed';
}
