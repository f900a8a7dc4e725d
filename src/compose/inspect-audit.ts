import { findLostMark, readMarks } from '../audit/statement-marks.ts';
import type { AuditState } from '../ports/audit-store.ts';
import type { Store } from '../ports/store.ts';
import type { Check } from './check.ts';

/** Whether records reach their sink, and what is refused if they do not. A store that keeps its audit is held against the marks. */
export async function inspectAudit(store: Store, hasSink: boolean, keys: string): Promise<Check[]> {
  const states: AuditState[] = [];
  for (let lane = 0; lane < store.lanes; lane += 1) states.push(await store.auditState({ lane }));
  const written = states.reduce((sum, { sequence }) => sum + sequence, 0);
  if (states.every(({ kept }) => kept)) {
    const lost = await findLostMark(store, await readMarks(keys, store));
    const fix = 'sallyport audit verify. After a restore of your own: sallyport audit accept-rollback';
    if (lost !== undefined) return [{ name: 'audit', state: 'bad', found: lost, fix }];
    return [{ name: 'audit', state: 'ok', found: `${written} records, chained in the store's own file` }];
  }
  const bad = states.flatMap((state, lane) => problemsOf(state, lane));
  if (bad.length > 0) return bad;
  const waiting = states.reduce((sum, { sequence, drained }) => sum + sequence - drained, 0);
  if (states.some(({ drainer }) => drainer === undefined)) {
    const fix = hasSink ? 'sallyport gateway' : 'Set audit.sink, then: sallyport gateway';
    return [{ name: 'audit', state: 'warn', found: `${waiting} records wait; nobody takes them to a sink`, fix }];
  }
  return [{ name: 'audit', state: 'ok', found: `${written} records, ${waiting} of them on their way to the sink` }];
}

function problemsOf({ alarm, refuses, sequence, drained, drainedAt, now }: AuditState, lane: number): Check[] {
  const checks: Check[] = [];
  if (alarm !== undefined) {
    const fix = 'Find out who deleted it. sallyport audit verify tells what the sink has; docs/audit.md how to go on.';
    checks.push({ name: 'audit', state: 'bad', found: `lane ${lane}: ${alarm}`, fix });
  }
  if (refuses !== 'nothing') {
    const what = refuses === 'everything' ? 'all calls are' : 'privileged calls are';
    const since = drainedAt === 0 ? 'never' : `${Math.round((now - drainedAt) / 1000)} s ago`;
    const found = `lane ${lane}: ${what} refused; ${sequence - drained} records wait, the sink last took some ${since}`;
    checks.push({ name: 'audit', state: 'bad', found, fix: 'Start the sink, and: sallyport gateway' });
  }
  return checks;
}
