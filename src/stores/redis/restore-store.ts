import { join } from 'node:path';
import { planeError } from '../../domain/errors/errors.ts';
import { invalid, readBackup, type BackupManifest, type LaneFacts } from '../backup/manifest.ts';
import { readRecords } from '../backup/record-file.ts';
import { asList, asNumber } from './answers.ts';
import { DEPLOYMENT_FILE, laneFile, type DumpedKey, type HashPart } from './backup-store.ts';
import { sendCommand, sendForBytes, type Connection } from './connection.ts';
import { readIncarnation, SCHEMA_VERSION, type Condition } from './incarnation-record.ts';
import { deploymentKeys, laneKeys } from './keys.ts';
import type { RedisStoreOptions } from './redis-options.ts';
import { deploymentPrefix, findAnyKey, lanePrefix, scanKeys } from './scan-keys.ts';
import { withServer } from './with-server.ts';

export interface RestoreOptions {
  readonly folder: string;
  readonly onProgress: (text: string) => void;
}

/**
 * Writes a backup into a server that has nothing under this name. From the first write until an operator adopts it, the store has a mark that
 * prevents every process from opening it. A restore that was interrupted can be started again.
 */
export function restoreRedisStore(store: RedisStoreOptions, options: RestoreOptions): Promise<BackupManifest> {
  return withServer(store, async ({ commands, name }) => {
    const manifest = await readBackup(options.folder, 'redis', options.onProgress);
    if (manifest.schema !== SCHEMA_VERSION) {
      throw planeError('STORE_VERSION', { found: manifest.schema, known: SCHEMA_VERSION });
    }
    await claimEmptyPlace(commands, name, manifest);
    const target: Target = { commands, name, now: await serverTime(commands), options };
    for (const { lane } of manifest.lanes) {
      options.onProgress(`restoring lane ${lane + 1} of ${manifest.lanes.length}`);
      await restoreFile(target, laneFile(lane), lanePrefix(name, lane), manifest.incarnation);
    }
    await restoreFile(target, DEPLOYMENT_FILE, deploymentPrefix(name), manifest.incarnation);
    for (const facts of manifest.lanes) await verifyLane(target, facts);
    await mark(commands, name, { kind: 'restored', madeAt: manifest.madeAt });
    return manifest;
  });
}

interface Target {
  readonly commands: Connection;
  readonly name: string;
  readonly now: number;
  readonly options: RestoreOptions;
}

async function claimEmptyPlace(commands: Connection, name: string, manifest: BackupManifest): Promise<void> {
  const key = deploymentKeys(name).incarnation;
  const lanes = manifest.lanes.length;
  if ((await readIncarnation(commands, name))?.condition?.kind === 'restoring') await clear(commands, name, lanes);
  const notEmpty = () => planeError('STORE_NOT_EMPTY', { place: `Redis under the name ${name}` });
  if ((await findAnyKey(commands, name, lanes)) !== undefined) throw notEmpty();
  // Write the mark first: every process that opens the store from now on sees it, whatever else is there.
  const restoring: Condition = { kind: 'restoring' };
  const marked = await sendCommand(commands, 'HSETNX', [key, 'condition', JSON.stringify(restoring)]);
  if (marked === 0) throw notEmpty();
  const fields = ['id', manifest.incarnation, 'lanes', String(lanes), 'schema', manifest.schema, 'founded', '1'];
  await sendCommand(commands, 'HSET', [key, ...fields]);
}

/** Deletes what an interrupted restore wrote. The mark that prevents every process from opening the store is deleted last. */
async function clear(commands: Connection, name: string, lanes: number): Promise<void> {
  const { incarnation } = deploymentKeys(name);
  const prefixes = [...Array.from({ length: lanes }, (_, lane) => lanePrefix(name, lane)), deploymentPrefix(name)];
  for (const prefix of prefixes) {
    for await (const keys of scanKeys(commands, prefix)) {
      for (const key of keys) if (key !== incarnation) await sendCommand(commands, 'DEL', [key]);
    }
  }
  await sendCommand(commands, 'DEL', [incarnation]);
}

function mark(commands: Connection, name: string, condition: Condition): Promise<unknown> {
  return sendCommand(commands, 'HSET', [deploymentKeys(name).incarnation, 'condition', JSON.stringify(condition)]);
}

const AT_ONCE = 64;

async function restoreFile(target: Target, file: string, prefix: string, incarnation: string): Promise<void> {
  const { folder } = target.options;
  // A backup can be restored under another name, so the prefix of the keys is replaced.
  let oldPrefix: string | undefined;
  let sent: Promise<unknown>[] = [];
  for (const read of readRecords(join(folder, file))) {
    const record = read as DumpedKey | HashPart;
    oldPrefix ??= record.key.slice(0, record.key.indexOf('}:') + 2);
    if (!record.key.startsWith(oldPrefix)) throw invalid(folder, `${file} has a key of another place`);
    sent.push(restoreRecord(target, { ...record, key: prefix + record.key.slice(oldPrefix.length) }));
    if (sent.length < AT_ONCE) continue;
    await Promise.all(sent);
    sent = [];
  }
  await Promise.all(sent);
  if (file === DEPLOYMENT_FILE) return;
  const found = await sendCommand(target.commands, 'HGET', [`${prefix}meta`, 'incarnation']);
  if (found !== incarnation) throw invalid(folder, `${file} is not of the store that the manifest names`);
}

async function restoreRecord({ commands, now }: Target, record: DumpedKey | HashPart): Promise<void> {
  if ('fields' in record) {
    await sendForBytes(commands, 'HSET', [record.key, ...record.fields.map(toBuffer)]);
    return;
  }
  const { key, expiresAt, dump } = record;
  if (expiresAt !== 0 && expiresAt <= now) return;
  // The server verifies the checksum of the dumped key, and rejects a key that already exists.
  await sendForBytes(commands, 'RESTORE', [key, String(expiresAt), toBuffer(dump), 'ABSTTL']);
}

function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

async function verifyLane({ commands, name, options }: Target, facts: LaneFacts): Promise<void> {
  const { meta, live } = laneKeys(name, facts.lane);
  const sequence = asNumber((await sendCommand(commands, 'HGET', [meta, 'auditSequence'])) ?? 0);
  const liveCalls = asNumber(await sendCommand(commands, 'ZCARD', [live])) - 1;
  if (sequence === facts.auditSequence && liveCalls === facts.liveCalls) return;
  const found = `audit sequence ${sequence} and ${liveCalls} live calls`;
  const wanted = `${facts.auditSequence} and ${facts.liveCalls}`;
  throw invalid(options.folder, `lane ${facts.lane} came out with ${found} instead of ${wanted}`);
}

async function serverTime(commands: Connection): Promise<number> {
  return asNumber(asList(await sendCommand(commands, 'TIME', []))[0]) * 1000;
}
