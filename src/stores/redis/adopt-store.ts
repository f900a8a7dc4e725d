import { randomUUID } from 'node:crypto';
import { DEPLOYMENT_LANE } from '../../domain/audit/audit-record.ts';
import type { Store } from '../../domain/ports/store.ts';
import { asNumber, asStoredNumber } from './answers.ts';
import { countRecords } from './audit-store.ts';
import { sendCommand, type Connection } from './connection.ts';
import {
  checkSchema,
  defaultLanes,
  describeCondition,
  foundLane,
  readIncarnation,
  readLane,
  SCHEMA_VERSION,
  type Condition,
  type IncarnationRecord,
} from './incarnation-record.ts';
import type { StoreFunction } from './function-library.ts';
import { deploymentKeys, laneKeys } from './keys.ts';
import { repairLaneNumbers } from './lane-numbers.ts';
import { moveOldAudit } from './move-old-audit.ts';
import { createRedisContext, type RedisContext } from './redis-context.ts';
import type { RedisStoreOptions } from './redis-options.ts';
import { createStore } from './redis-store.ts';
import { loadedFunctions, withServer, type ReachedServer } from './with-server.ts';

/** What is known about a store that an operator wants to adopt. */
export interface Adoption {
  /** `empty`: there is no store. `older`: data after some moment is missing. `whole`: nothing is known to be missing. */
  readonly kind: 'empty' | 'older' | 'whole';
  readonly findings: readonly string[];
  readonly liveCalls: number;
}

export function inspectAdoption(options: RedisStoreOptions): Promise<Adoption> {
  return withServer(options, async ({ commands, name }) => {
    const record = await readIncarnation(commands, name);
    if (record === undefined) {
      return { kind: 'empty', findings: [`nothing is stored under the name ${name}`], liveCalls: 0 };
    }
    checkSchema(record);
    const { condition } = record;
    const lanes = await inspectLanes(commands, name, record);
    const findings = [...(condition === undefined ? [] : [describeCondition(condition)]), ...lanes.findings];
    const isOlder = mayBeOlder(condition) || lanes.findings.length > 0;
    return { kind: isOlder ? 'older' : 'whole', findings, liveCalls: lanes.liveCalls };
  });
}

function mayBeOlder(condition: Condition | undefined): boolean {
  if (condition?.kind === 'adopting') return mayBeOlder(condition.before);
  return condition !== undefined;
}

async function inspectLanes(
  commands: Connection,
  name: string,
  record: IncarnationRecord,
): Promise<{ findings: string[]; liveCalls: number }> {
  const findings: string[] = [];
  let liveCalls = 0;
  const isAdopting = record.condition?.kind === 'adopting';
  for (let lane = 0; lane < record.lanes; lane += 1) {
    const found = await readLane(commands, name, lane);
    if (found === undefined) findings.push(`lane ${lane} of ${record.lanes} is gone with everything in it`);
    else if (found !== record.id && !isAdopting)
      findings.push(`lane ${lane} belongs to another incarnation (${found})`);
    liveCalls += Math.max(0, asNumber(await sendCommand(commands, 'ZCARD', [laneKeys(name, lane).live])) - 1);
  }
  return { findings, liveCalls };
}

/**
 * Gives the store a new incarnation. Processes that knew another one stop, and new ones may start. `meanwhile` gets the store before any
 * other process can open it. If the adoption is interrupted at any point, the store stays closed and can be adopted again.
 */
export function adoptRedisStore<Result>(
  options: RedisStoreOptions,
  meanwhile: (store: Store) => Promise<Result>,
): Promise<{ readonly incarnation: string; readonly result: Result }> {
  return withServer(options, async (server) => {
    const { commands, name, facts, connection } = server;
    const functions = await loadedFunctions(server);
    const before = await readIncarnation(commands, name);
    if (before !== undefined) checkSchema(before);
    const incarnation = randomUUID();
    const lanes = before?.lanes ?? options.lanes ?? defaultLanes(facts.cluster);
    await closeStore(server, before, lanes, incarnation);
    const patienceMs = options.patienceMs ?? 15_000;
    const context = createRedisContext({ name, incarnation, lanes, connection, commands, functions, patienceMs });
    for (let lane = 0; lane < lanes; lane += 1) {
      await adoptLane(commands, name, lane, incarnation);
      await foundLane(commands, functions, name, lane, incarnation);
      await renumberAudit(context, commands, functions, lane);
    }
    const deployment = laneKeys(name, DEPLOYMENT_LANE);
    await sendCommand(commands, 'HSET', [deployment.meta, 'incarnation', incarnation]);
    await renumberAudit(context, commands, functions, DEPLOYMENT_LANE);
    const result = await meanwhile(createStore(context));
    const key = deploymentKeys(name).incarnation;
    await sendCommand(commands, 'HSET', [key, 'id', incarnation, 'founded', '1']);
    await sendCommand(commands, 'HDEL', [key, 'condition']);
    return { incarnation, result };
  });
}

async function closeStore(
  { commands, name }: ReachedServer,
  before: IncarnationRecord | undefined,
  lanes: number,
  incarnation: string,
): Promise<void> {
  const known = before?.condition;
  const condition: Condition =
    known?.kind === 'adopting' ? known : { kind: 'adopting', ...(known === undefined ? {} : { before: known }) };
  const id = before?.id ?? incarnation;
  const fields = { condition: JSON.stringify(condition), id, lanes: String(lanes), schema: SCHEMA_VERSION };
  await sendCommand(commands, 'HSET', [deploymentKeys(name).incarnation, ...Object.entries(fields).flat()]);
}

/** Moves the lane to the new incarnation. Raises the epoch, so that everything that was read under another incarnation is checked again. */
async function adoptLane(commands: Connection, name: string, lane: number, incarnation: string): Promise<void> {
  const keys = laneKeys(name, lane);
  const { meta } = keys;
  if ((await readLane(commands, name, lane)) === undefined) return;
  const { policy } = deploymentKeys(name);
  const policyVersion = await readPolicyVersion(commands, policy);
  // Otherwise a damaged epoch would make the next command fail, and another damaged number the lane's first call.
  await repairLaneNumbers(commands, keys, policy);
  await sendCommand(commands, 'HINCRBY', [meta, 'epoch', '1']);
  // Workers wait for the policy version that a lane names. If that version was lost, every worker would stop.
  await sendCommand(commands, 'HSET', [meta, 'policyVersion', policyVersion, 'incarnation', incarnation]);
}

async function readPolicyVersion(commands: Connection, key: string): Promise<string> {
  const version = await sendCommand(commands, 'HGET', [key, 'version']);
  return version === null ? '0' : String(asStoredNumber(version, { key, field: 'version', needed: 'its version' }));
}

/** Renumbers the audit records that wait in the lane: they are the beginning of the new incarnation's chain. */
async function renumberAudit(
  context: RedisContext,
  commands: Connection,
  functions: ReadonlyMap<string, StoreFunction>,
  lane: number,
): Promise<void> {
  const { incarnation } = context;
  const { meta, drain, audit, oldAudit } = context.lane(lane);
  await moveOldAudit(commands, functions, { meta, drain, audit, oldAudit }, incarnation);
  const records = await countRecords(context, lane);
  await context.fcall('renumber_audit', { keys: { meta, drain, audit }, args: { incarnation, records } });
}
