import { join } from 'node:path';
import {
  decodeOutcome,
  drainLanes,
  keepsTrail,
  openSqliteSink,
  readAuditDetail,
  verifyTrail,
  type AnyStore,
  type Store,
  type Verification,
} from 'sallyport/testing';
import { seenOutcome } from '../workload/answers.ts';
import type { History, SeenAudit, SeenRecord } from './history.ts';

const PAGE = 1000;
const AT_ONCE = 200;

export async function readAudit(store: Store): Promise<SeenAudit[]> {
  const seen: SeenAudit[] = [];
  for (const lane of store.auditLanes) {
    for (let from = 1; ;) {
      const page = await store.readAudit({ lane, fromSequence: from, limit: PAGE });
      for (const { sequence, at, event, callId, approval, detail } of page) {
        const { facts } = readAuditDetail(detail);
        seen.push({
          lane,
          sequence,
          at,
          event,
          // An administrative record belongs to no call, but it counts in the sequence of its lane.
          callId: callId ?? '',
          ...(approval === undefined ? {} : { approval }),
          ...(facts.outcome === undefined ? {} : { outcome: facts.outcome }),
          ...(facts.decision === undefined ? {} : { decision: facts.decision }),
        });
      }
      if (page.length < PAGE) break;
      from = page.at(-1)!.sequence + 1;
    }
  }
  return seen;
}

export async function readRecords(store: Store, ids: readonly string[]): Promise<Map<string, SeenRecord>> {
  const records = new Map<string, SeenRecord>();
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const page = ids.slice(at, at + AT_ONCE);
    const found = await Promise.all(page.map((id) => store.readCall(id as Parameters<Store['readCall']>[0])));
    for (const record of found) {
      if (record === undefined) continue;
      const { callId, state, tool, session, acceptedAt, deadline, settledAt, starts, outcome } = record;
      records.set(callId, {
        callId,
        state,
        tool,
        session,
        acceptedAt,
        deadline,
        starts,
        ...(settledAt === undefined ? {} : { settledAt }),
        ...(outcome === undefined ? {} : { outcome: seenOutcome(decodeOutcome(outcome)) }),
      });
    }
  }
  return records;
}

const SILENT = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const NO_BOUND = { records: Infinity, lateMs: Infinity };
const NO_KEYS = new Map();
const STILL_MS = 20;
/** Rejects every statement: a drain adds one only for elements that no function of the store has written, and a run must have none. */
const NO_STATEMENTS = {
  add: () => Promise.reject(new Error('the audit of a lane holds something that no function has written')),
  gaps: async () => [],
};

/**
 * Verifies the hash chain. The embedded store keeps its own chain. Records of Redis are moved to a sink, which builds a chain; all of them
 * must arrive there.
 */
export async function verifyChain(store: AnyStore, folder: string): Promise<History['chain']> {
  if (keepsTrail(store)) return toChain(await verifyTrail(store, NO_KEYS));
  const state = await store.auditState({ lane: 0 });
  const sink = await openSqliteSink(join(folder, 'audit.db'));
  const settings = { drainer: 'chaos', leaseMs: 5000, bounds: { privileged: NO_BOUND, everything: NO_BOUND } };
  const drains = drainLanes(settings, { store, sink, statements: NO_STATEMENTS, log: SILENT });
  try {
    while (drains.states.some(({ alarm }) => alarm === undefined) && !(await isDrained(store))) {
      if (drains.states.some(({ alarm }) => alarm !== undefined)) break;
      await new Promise((resolve) => setTimeout(resolve, STILL_MS));
    }
    await drains.stop();
    const known = [{ store: state.store, lane: 0, sequence: state.sequence }];
    return toChain(await verifyTrail(sink, NO_KEYS, known));
  } finally {
    await sink.close();
  }
}

async function isDrained(store: Store): Promise<boolean> {
  const states = await Promise.all(store.auditLanes.map((lane) => store.auditState({ lane })));
  return states.every(({ sequence, drained }) => drained >= sequence);
}

function toChain({ records, problem }: Verification): History['chain'] {
  return problem === undefined
    ? { records }
    : { records, problem: `record ${problem.sequence ?? '?'} of lane ${problem.lane ?? '?'}: ${problem.what}` };
}
