import type { DamagedNumber } from '../../domain/ports/call-requests.ts';
import { asBytes, asList, asText } from './answers.ts';
import { sendCommand, sendForBytes, type Connection } from './connection.ts';
import type { LaneKeys } from './keys.ts';

/**
 * The numbers in a lane's `meta` and `retained`. Functions count in them, and roles that write lanes can overwrite them with raw commands: see
 * docs/security.md. `doctor` reports a number that no function can have written, and an adoption writes it again.
 */
const META_NUMBERS = ['policyVersion', 'epoch', 'cancelSequence', 'liveBytes', 'retainedBytes', 'parkedBytes'] as const;
type MetaNumber = (typeof META_NUMBERS)[number];
/** A lane cannot work without these numbers. If one of the others is missing, it counts as 0. */
const NEEDED: readonly MetaNumber[] = ['policyVersion', 'epoch'];
/** Exact as a JavaScript number, and more than any lane reaches. */
const WHOLE = /^\d{1,15}$/;
const MAX_SHOWN_LENGTH = 40;

export interface LaneNumbers {
  readonly meta: Readonly<Record<MetaNumber, number>>;
  /** Times at which kept outcomes may be deleted. Contains only times that are numbers. */
  readonly forgetAt: readonly number[];
  readonly damaged: readonly DamagedNumber[];
}

export type Send = (command: string, ...args: string[]) => Promise<unknown>;

/**
 * Reads the numbers of a lane. A damaged number counts as 0. Writers write the policy record before the lanes. Here the lane's
 * `policyVersion` is read first and the record after it, so an undamaged lane is never ahead of the record.
 */
export async function readLaneNumbers(
  send: Send,
  { meta, retained }: LaneKeys,
  policyKey: string,
): Promise<LaneNumbers> {
  const fields = asList(await send('HMGET', meta, ...META_NUMBERS)).map(textOrNull);
  const recorded = textOrNull(await send('HGET', policyKey, 'version')) ?? '0';
  const buckets = asList(await send('HGETALL', retained)).map(asText);
  const damaged: DamagedNumber[] = [];
  const numbers = {} as Record<MetaNumber, number>;
  META_NUMBERS.forEach((field, at) => {
    const problem = problemOf(field, fields[at] ?? null, recorded);
    if (problem !== undefined) damaged.push({ key: meta, field, problem });
    numbers[field] = problem === undefined ? Number(fields[at] ?? 0) : 0;
  });
  const forgetAt: number[] = [];
  for (let at = 0; at < buckets.length; at += 2) {
    const [time, bytes] = [buckets[at]!, buckets[at + 1]!];
    if (WHOLE.test(time)) forgetAt.push(Number(time));
    else damaged.push({ key: retained, field: shown(time), problem: 'is no time' });
    if (!WHOLE.test(bytes)) damaged.push({ key: retained, field: shown(time), problem: notWhole(bytes) });
  }
  return { meta: numbers, forgetAt, damaged };
}

function problemOf(field: MetaNumber, text: string | null, policyVersion: string): string | undefined {
  if (text === null) return NEEDED.includes(field) ? 'is missing' : undefined;
  if (!WHOLE.test(text)) return notWhole(text);
  // Workers would wait for a policy version that does not exist. If the policy's own version was overwritten, that is reported separately.
  if (field !== 'policyVersion' || !WHOLE.test(policyVersion) || Number(text) <= Number(policyVersion))
    return undefined;
  return `is ${text}, and the policy has version ${policyVersion}`;
}

const notWhole = (text: string): string => `is ${shown(text)}, and not a whole number from 0 to 15 digits`;
const shown = (text: string): string =>
  JSON.stringify(text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}...` : text);

function textOrNull(field: unknown): string | null {
  return field === null ? null : asText(field);
}

/** Returns a number larger than any count of the lane. Processes that remember an earlier number notice the difference and read again. */
const unusedNumber = (): string => String(Date.now());

/** Writes damaged numbers again, in a store that no process uses. Does not write the policy version: the caller knows it. */
export async function repairLaneNumbers(commands: Connection, keys: LaneKeys, policyKey: string): Promise<void> {
  const { meta, retained } = keys;
  const send: Send = (command, ...args) => sendCommand(commands, command, args);
  const { damaged } = await readLaneNumbers(send, keys, policyKey);
  const inMeta = new Set(damaged.flatMap(({ key, field }) => (key === meta ? field : [])));
  for (const field of ['epoch', 'cancelSequence']) {
    if (inMeta.has(field)) await send('HSET', meta, field, unusedNumber());
  }
  // Workers count the kept bytes again every second.
  if (inMeta.has('retainedBytes')) await send('HSET', meta, 'retainedBytes', '0');
  if (inMeta.has('liveBytes') || inMeta.has('parkedBytes')) {
    const { live, parked } = await countLiveBytes(commands, keys);
    await send('HSET', meta, 'liveBytes', String(live), 'parkedBytes', String(parked));
  }
  if (!damaged.some(({ key }) => key === retained)) return;
  const buckets = asList(await send('HGETALL', retained)).map(asText);
  for (let at = 0; at < buckets.length; at += 2) {
    if (!WHOLE.test(buckets[at]!)) await send('HDEL', retained, buckets[at]!);
    else if (!WHOLE.test(buckets[at + 1]!)) await send('HSET', retained, buckets[at]!, '0');
  }
}

const READ_AT_ONCE = 500;
/** Byte offsets of version, state and size of a call that is not settled, as `functions/shared/record.lua` packs them. */
const [VERSION_AT, STATE_AT, BYTES_AT] = [0, 1, 4];

async function countLiveBytes(
  commands: Connection,
  keys: LaneKeys,
): Promise<{ readonly live: number; readonly parked: number }> {
  const ids = asList(await sendCommand(commands, 'ZRANGE', [keys.live, '0', '-1'])).map(asText);
  const sum = { live: 0, parked: 0 };
  for (let at = 0; at < ids.length; at += READ_AT_ONCE) {
    const page = [keys.calls, ...ids.slice(at, at + READ_AT_ONCE)];
    for (const stored of asList(await sendForBytes(commands, 'HMGET', page))) {
      if (stored === null) continue;
      const record = asBytes(stored);
      if (record.length < BYTES_AT + 4 || record.toString('latin1', VERSION_AT, STATE_AT) !== '1') continue;
      const bytes = record.readUInt32LE(BYTES_AT);
      sum.live += bytes;
      if (record.toString('latin1', STATE_AT, STATE_AT + 1) === 'p') sum.parked += bytes;
    }
  }
  return sum;
}
