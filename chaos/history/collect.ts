import { openStore } from 'sallyport/testing';
import type { FaultRecord } from '../nemesis/fault.ts';
import { LEASE_MS, type Stage } from '../stage/stage.ts';
import { readEffectLog } from '../workload/effect-log.ts';
import type { HookEntry } from '../workload/hooks/slow-hook.ts';
import { readJournal } from '../workload/journal.ts';
import type { Plan } from '../workload/plan.ts';
import type { Stall } from '../workload/watch-stalls.ts';
import type { History } from './history.ts';
import { findLeftovers } from './leftovers.ts';
import { readCallers, readOperator } from './read-journals.ts';
import { readAudit, readRecords, verifyChain } from './read-store.ts';

/** Reads everything after all processes have ended. The embedded store is opened as its owner. */
export async function collectHistory(
  stage: Stage,
  plan: Plan,
  faults: readonly FaultRecord[],
  unfinished: readonly string[],
): Promise<History> {
  const { options } = stage;
  const store = await openStore(options.store === 'redis' ? options : { ...options, mode: 'own' });
  try {
    const callers = readCallers(stage, plan);
    const effects = readEffectLog(stage.files.effects);
    const leftovers = await findLeftovers(store, stage.redis);
    const audit = await readAudit(store);
    const ids = new Set([
      ...callers.calls.map(({ callId }) => callId),
      ...callers.answers.flatMap(({ callId }) => (callId === undefined ? [] : [callId])),
      ...audit.map(({ callId }) => callId),
      ...effects.map(({ callId }) => callId),
    ]);
    return {
      store: stage.store,
      leaseMs: LEASE_MS,
      ...callers,
      ...readOperator(stage),
      effects,
      faults,
      away: stage.away,
      stalls: readJournal<Stall>(stage.files.stalls),
      hooks: readJournal<HookEntry>(stage.files.hooks),
      records: await readRecords(store, [...ids]),
      audit,
      chain: await verifyChain(store, stage.folder),
      leftovers,
      troubles: stage.troubles,
      unfinished,
      jumpedMs: jumpedMs(faults),
    };
  } finally {
    await store.close();
  }
}

/**
 * Max time that clock jumps of the embedded owner can add to store time. Only forward jumps add, because store time never goes back. The
 * largest one goes from the lowest to the highest offset.
 */
function jumpedMs(faults: readonly FaultRecord[]): number {
  const offsets = faults
    .filter(({ kind, target }) => kind === 'clock-jump' && target === 'owner')
    .map(({ detail }) => Math.abs(Number.parseInt(detail, 10)));
  return 2 * Math.max(0, ...offsets);
}
