import type { InjectAnswer, InjectRequest } from '../../../domain/ports/session-store.ts';
import type { Transaction } from '../transaction.ts';
import { findOwnedCall } from './call-row.ts';
import { findSession, sessionEnding } from './session-row.ts';

export function injectTools(transaction: Transaction, request: InjectRequest): InjectAnswer {
  const { database } = transaction;
  const call = findOwnedCall(transaction, request);
  if (call === undefined) return { kind: 'fenced' };
  const { session, run, tool: by } = call;
  if (sessionEnding(transaction, findSession(transaction, session), run) !== undefined) {
    return { kind: 'injected', tools: [] };
  }
  const known = database.all<{ tool: string; by: string }>(
    'SELECT tool, by FROM injected WHERE session = ? AND run = ?',
    session,
    run,
  );
  const own = new Set(known.filter((grant) => grant.by === by).map((grant) => grant.tool));
  let count = known.length;
  for (const tool of request.tools) {
    if (own.has(tool) || count >= request.limit) continue;
    database.run('INSERT INTO injected VALUES (?, ?, ?, ?)', session, run, tool, by);
    own.add(tool);
    count += 1;
  }
  return { kind: 'injected', tools: request.tools.filter((tool) => own.has(tool)) };
}
