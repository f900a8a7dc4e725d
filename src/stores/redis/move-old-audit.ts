import { asList, asNumber } from './answers.ts';
import type { Connection } from './connection.ts';
import { callFunction, type StoreFunction } from './function-library.ts';
import { readIncarnation } from './incarnation-record.ts';
import { laneKeys, type LaneKeys } from './keys.ts';

const MOVED_AT_ONCE = 50;

/** Moves the records that an earlier release left in a lane's stream to its journal. Returns the number of moved entries. */
export async function moveOldAudit(
  commands: Connection,
  functions: ReadonlyMap<string, StoreFunction>,
  { meta, drain, audit, oldAudit }: Pick<LaneKeys, 'meta' | 'drain' | 'audit' | 'oldAudit'>,
  incarnation: string,
): Promise<number> {
  const call = { keys: { meta, drain, audit, oldAudit }, args: { incarnation, limit: MOVED_AT_ONCE } };
  let total = 0;
  for (;;) {
    const moved = asNumber(asList(await callFunction(commands, functions.get('move_audit')!, call))[1]);
    total += moved;
    if (moved < MOVED_AT_ONCE) return total;
  }
}

/** Moves the records of all lanes. A store that does not exist yet, or that must be adopted first, has nothing to move. */
export async function moveOldAudits(
  commands: Connection,
  functions: ReadonlyMap<string, StoreFunction>,
  name: string,
): Promise<number> {
  const record = await readIncarnation(commands, name);
  if (record === undefined || record.condition !== undefined) return 0;
  let total = 0;
  for (let lane = 0; lane < record.lanes; lane += 1) {
    total += await moveOldAudit(commands, functions, laneKeys(name, lane), record.id);
  }
  return total;
}
