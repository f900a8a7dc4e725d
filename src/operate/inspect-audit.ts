import { countNoun } from '../base/count-noun.ts';
import { findLostMark, readMarks } from '../audit/statement-marks.ts';
import { nameLane } from '../domain/audit/audit-record.ts';
import type { AuditState } from '../domain/ports/audit-store.ts';
import { keepsTrail, type AnyStore } from '../domain/ports/store.ts';
import type { Check } from './check.ts';

/**
 * Checks whether records reach their sink, and which calls are refused if they do not. If the store keeps its audit itself, its trail is
 * compared with the marks of the last statements.
 */
export async function inspectAudit(store: AnyStore, hasSink: boolean, keys: string): Promise<Check[]> {
  const states: AuditState[] = [];
  for (const lane of store.auditLanes) states.push(await store.auditState({ lane }));
  const written = states.reduce((sum, { sequence }) => sum + sequence, 0);
  if (keepsTrail(store)) {
    const lost = await findLostMark(store, await readMarks(keys, store));
    const fix = 'sallyport audit verify. After a restore of your own: sallyport audit accept-rollback';
    if (lost !== undefined) return [{ name: 'audit', state: 'bad', found: lost, fix }];
    return [{ name: 'audit', state: 'ok', found: `${countNoun(written, 'record')}, chained in the store's own file` }];
  }
  const lanes = states.map((state, index) => ({ state, lane: store.auditLanes[index]! }));
  const strange = lanes.flatMap(({ state, lane }) => appendedByHand(state, lane));
  const bad = lanes.flatMap(({ state, lane }) => problemsOf(state, lane));
  if (bad.length > 0) return [...bad, ...strange];
  const waiting = states.reduce((sum, state) => sum + state.waiting, 0);
  if (states.some(({ drainer }) => drainer === undefined)) {
    const fix = hasSink ? 'sallyport gateway' : 'Set audit.sink, then: sallyport gateway';
    const found = `${countNoun(waiting, 'record')} not drained; no gateway takes them to a sink`;
    return [...strange, { name: 'audit', state: 'warn', found, fix }];
  }
  if (strange.length > 0) return strange;
  return [
    {
      name: 'audit',
      state: 'ok',
      found: `${countNoun(written, 'record')}, ${waiting} of them on their way to the sink`,
    },
  ];
}

const acceptCommand = (lane: number): string => `sallyport audit accept-gap --lane=${lane} --reason TEXT --yes`;

const DAY_MS = 24 * 3_600_000;

/**
 * Reports elements in a lane that the plane itself did not append: a process with the password of a Redis role did, which may be an attack.
 * The warning ends by itself after one day.
 */
function appendedByHand({ foreign, foreignAt, surplus, now }: AuditState, lane: number): Check[] {
  if (now - foreignAt > DAY_MS || foreign + surplus === 0) return [];
  const found = `${nameLane(lane)}: a role has appended by hand: ${foreign} entries that are no records, ${countNoun(surplus, 'record')} that the lane had not counted`;
  const fix = 'Find out whose Redis password was used, and change it. sallyport audit verify shows when and where.';
  return [{ name: 'audit', state: 'warn', found, fix }];
}

function problemsOf({ alarm, gap, refuses, waiting, drainedAt, now }: AuditState, lane: number): Check[] {
  const checks: Check[] = [];
  if (alarm !== undefined) {
    const go = gap === undefined ? 'docs/audit.md says how to go on' : `to go on without: ${acceptCommand(lane)}`;
    const fix = `Find out who deleted it, and bring it back from a backup of Redis if there is one; ${go}`;
    checks.push({ name: 'audit', state: 'bad', found: `${nameLane(lane)}: ${alarm}`, fix });
  }
  if (refuses !== 'nothing') {
    const what = refuses === 'everything' ? 'all calls are' : 'privileged calls are';
    const since = drainedAt === 0 ? 'never' : `${Math.round((now - drainedAt) / 1000)} s ago`;
    const found = `${nameLane(lane)}: ${what} refused; ${countNoun(waiting, 'record')} not drained, the sink last took some ${since}`;
    checks.push({ name: 'audit', state: 'bad', found, fix: 'Start the sink, and: sallyport gateway' });
  }
  return checks;
}
