import { randomUUID } from 'node:crypto';
import { DEPLOYMENT_LANE } from '../../domain/audit/audit-record.ts';
import { planeError, type PlaneError } from '../../domain/errors/errors.ts';
import { asList, asStoredNumber, asText } from './answers.ts';
import { sendCommand, type Connection } from './connection.ts';
import { callFunction, type StoreFunction } from './function-library.ts';
import { deploymentKeys, laneKeys } from './keys.ts';

export const SCHEMA_VERSION = '1';

/** Why a store may not be used before an operator adopts it. Kept in the store, so that every process reports the same reason. */
export type Condition =
  /** A restore is in progress, or was interrupted. */
  | { readonly kind: 'restoring' }
  | { readonly kind: 'restored'; readonly madeAt: string }
  /** A worker had seen a higher audit sequence than the store has now. */
  | { readonly kind: 'older'; readonly lane: number; readonly seen: number; readonly found: number }
  /** An adoption was interrupted. */
  | { readonly kind: 'adopting'; readonly before?: Condition }
  /** The field was overwritten. Any worker's password allows that; an adoption must be able to end this state. */
  | { readonly kind: 'unreadable' };

export interface IncarnationRecord {
  readonly id: string;
  readonly lanes: number;
  readonly schema: string;
  /** All lanes have been created, so a missing lane was lost. */
  readonly founded: boolean;
  readonly condition?: Condition;
}

export async function readIncarnation(commands: Connection, name: string): Promise<IncarnationRecord | undefined> {
  const key = deploymentKeys(name).incarnation;
  const [id, lanes, schema, founded, condition] = asList(
    await sendCommand(commands, 'HMGET', [key, 'id', 'lanes', 'schema', 'founded', 'condition']),
  );
  if (id === null || lanes === null || schema === null) return undefined;
  return {
    id: asText(id),
    lanes: asStoredNumber(lanes, { key, field: 'lanes', needed: describeLanes(name) }, [1, MAX_LANES]),
    schema: asText(schema),
    founded: founded !== null,
    ...(condition === null ? {} : { condition: parseCondition(asText(condition)) }),
  };
}

/** The highest value that `redis.lanes` accepts. */
const MAX_LANES = 1024;

const describeLanes = (name: string): string =>
  `the number of lanes, one for each key {${name}:0}:meta, {${name}:1}:meta and so on`;

/** @internal */
export function parseCondition(text: string): Condition {
  try {
    const parsed = JSON.parse(text) as unknown;
    if (isCondition(parsed)) return parsed;
  } catch {
    // Not JSON, or nested too deep to be checked.
  }
  return { kind: 'unreadable' };
}

function isCondition(value: unknown): value is Condition {
  if (typeof value !== 'object' || value === null) return false;
  const { kind, madeAt, lane, seen, found, before } = value as Record<string, unknown>;
  switch (kind) {
    case 'restoring':
    case 'unreadable':
      return true;
    case 'restored':
      return typeof madeAt === 'string';
    case 'older':
      return [lane, seen, found].every((each) => typeof each === 'number');
    case 'adopting':
      return before === undefined || isCondition(before);
    default:
      return false;
  }
}

export interface Founding {
  readonly name: string;
  /** For a new store only. An existing store must have the same number. */
  readonly lanes: number | undefined;
  readonly cluster: boolean;
  /** Whether to create a store if there is none. */
  readonly create: boolean;
}

/** The first process gives the store its incarnation and its number of lanes. Later processes must agree with both. */
export async function foundStore(
  commands: Connection,
  functions: ReadonlyMap<string, StoreFunction>,
  { name, lanes, cluster, create }: Founding,
): Promise<{ readonly incarnation: string; readonly lanes: number }> {
  const record =
    (await readIncarnation(commands, name)) ?? (await writeIncarnation(commands, name, lanes, cluster, create));
  checkSchema(record);
  if (record.condition !== undefined) throw unadopted(record.condition);
  if (lanes !== undefined && record.lanes !== lanes) {
    throw planeError('STORE_LANES', { configured: lanes, found: record.lanes });
  }
  for (let lane = 0; lane < record.lanes; lane += 1) {
    const found = await readLane(commands, name, lane);
    if (found === record.id) continue;
    if (found !== undefined || record.founded || !create) throw lostLane(record, lane, found);
    await foundLane(commands, functions, name, lane, record.id);
  }
  await foundDeploymentLane(commands, name, record.id);
  if (!record.founded && create)
    await sendCommand(commands, 'HSETNX', [deploymentKeys(name).incarnation, 'founded', '1']);
  return { incarnation: record.id, lanes: record.lanes };
}

/**
 * Creates the lane of the deployment's own audit. A store of an earlier release has none, and gets one when it is next opened. If only this lane is
 * lost, the drain notices it: the sink then has more records than the lane has counted.
 */
export async function foundDeploymentLane(commands: Connection, name: string, incarnation: string): Promise<void> {
  const found = await readLane(commands, name, DEPLOYMENT_LANE);
  if (found === incarnation) return;
  if (found !== undefined)
    throw planeError('STORE_REPLACED', { expected: `incarnation ${incarnation}`, found: `incarnation ${found}` });
  const { meta } = laneKeys(name, DEPLOYMENT_LANE);
  await sendCommand(commands, 'HSETNX', [meta, 'auditSequence', '0']);
  await sendCommand(commands, 'HSETNX', [meta, 'incarnation', incarnation]);
}

/** Returns the incarnation of a lane. */
export async function readLane(commands: Connection, name: string, lane: number): Promise<string | undefined> {
  const found = await sendCommand(commands, 'HGET', [laneKeys(name, lane).meta, 'incarnation']);
  return found === null ? undefined : asText(found);
}

function lostLane({ id }: IncarnationRecord, lane: number, found: string | undefined): PlaneError {
  return planeError('STORE_REPLACED', {
    expected: `incarnation ${id}`,
    found: `${found === undefined ? 'none' : `incarnation ${found}`} in lane ${lane}`,
  });
}

async function writeIncarnation(
  commands: Connection,
  name: string,
  lanes: number | undefined,
  cluster: boolean,
  create: boolean,
): Promise<IncarnationRecord> {
  if (!create) throw planeError('STORE_MISSING', { name });
  const key = deploymentKeys(name).incarnation;
  const proposed = { id: randomUUID(), lanes: String(lanes ?? defaultLanes(cluster)), schema: SCHEMA_VERSION };
  for (const [field, value] of Object.entries(proposed)) await sendCommand(commands, 'HSETNX', [key, field, value]);
  const written = await readIncarnation(commands, name);
  if (written === undefined) throw planeError('STORE_REPLACED', { expected: 'a new store', found: 'none' });
  return written;
}

export function defaultLanes(cluster: boolean): number {
  return cluster ? 16 : 1;
}

export function checkSchema({ schema }: IncarnationRecord): void {
  if (schema !== SCHEMA_VERSION) throw planeError('STORE_VERSION', { found: schema, known: SCHEMA_VERSION });
}

/** Creates a lane. A lane that has an incarnation keeps it. */
export async function foundLane(
  commands: Connection,
  functions: ReadonlyMap<string, StoreFunction>,
  name: string,
  lane: number,
  incarnation: string,
): Promise<void> {
  const { meta, live, drain } = laneKeys(name, lane);
  await callFunction(commands, functions.get('found_lane')!, { keys: { meta, live, drain }, args: { incarnation } });
}

/**
 * Marks the store as older than what this process had seen. The mark stops all other processes, including those that start later and have seen
 * nothing. It is written only while the record has the known incarnation: another store under the same name must not be marked.
 */
export async function condemnStore(
  command: (name: string, ...args: string[]) => Promise<unknown>,
  key: string,
  incarnation: string,
  condition: Condition,
): Promise<void> {
  if ((await command('HGET', key, 'id')) !== incarnation) return;
  await command('HSETNX', key, 'condition', JSON.stringify(condition));
}

function unadopted(condition: Condition): PlaneError {
  return planeError('STORE_UNADOPTED', { why: describeCondition(condition) });
}

export function describeCondition(condition: Condition): string {
  switch (condition.kind) {
    case 'restoring':
      return 'a restore was begun and has not ended';
    case 'restored':
      return `it was restored from a backup of ${condition.madeAt}`;
    case 'older':
      return `a worker had seen audit sequence ${condition.seen} in lane ${condition.lane}, and it went back to ${condition.found}`;
    case 'adopting':
      return 'an adoption was begun and has not ended';
    case 'unreadable':
      return 'the note that says why it may not be used was overwritten';
  }
}
