import { join } from 'node:path';
import { planeError } from '../../domain/errors/errors.ts';
import { writeBackup } from '../backup/write-backup.ts';
import type { BackupManifest, LaneFacts } from '../backup/manifest.ts';
import { RecordWriter } from '../backup/record-file.ts';
import { asBytes, asList, asNumber, asText } from './answers.ts';
import {
  mastersOf,
  NODE_READY_TIMEOUT_MS,
  sendCommand,
  sendForBytes,
  sendTogether,
  untilReady,
  type Connection,
} from './connection.ts';
import { checkSchema, describeCondition, readIncarnation } from './incarnation-record.ts';
import { deploymentKeys, laneKeys } from './keys.ts';
import type { RedisStoreOptions } from './redis-options.ts';
import { deploymentPrefix, lanePrefix, scanKeys } from './scan-keys.ts';
import { withServer } from './with-server.ts';

/** A key in the server's DUMP format. */
export interface DumpedKey {
  readonly key: string;
  /** Milliseconds since 1970; 0 if the key does not expire. */
  readonly expiresAt: number;
  readonly dump: Uint8Array;
}

/** A part of the hash of calls, which can be larger than a dumped key may be. Names and values alternate. */
export interface HashPart {
  readonly key: string;
  readonly fields: readonly Uint8Array[];
}

export interface RedisBackupOptions {
  readonly folder: string;
  readonly release: string;
  /** Max time that the writers of the server wait while one lane is copied. */
  readonly pauseMs: number;
  readonly onProgress: (text: string) => void;
}

/** The server restores no dumped key above 512 MiB. */
const MAX_DUMP_BYTES = 500 * 1024 * 1024;
const FIELDS_PER_PART = '500';

/**
 * Copies a store lane by lane. While a lane is read, all writers of the server wait (`CLIENT PAUSE … WRITE`, which ends by itself). So each
 * lane is copied as it was at one moment. Lanes share nothing, so different lanes may be copied at different moments. If a lane cannot be
 * read within the pause, the backup fails: the copy could mix two states.
 */
export function backupRedisStore(store: RedisStoreOptions, options: RedisBackupOptions): Promise<BackupManifest> {
  return withServer(store, async ({ commands, name }) => {
    const record = await readIncarnation(commands, name);
    if (record === undefined)
      throw planeError('BACKUP_FAILED', { problem: `nothing is stored under the name ${name}` });
    checkSchema(record);
    if (record.condition !== undefined)
      throw planeError('BACKUP_FAILED', { problem: describeCondition(record.condition) });
    return writeBackup(options.folder, async (draft) => {
      const madeAt = new Date().toISOString();
      const lanes: LaneFacts[] = [];
      const files: CopiedFile[] = [];
      for (let lane = 0; lane < record.lanes; lane += 1) {
        options.onProgress(`copying lane ${lane + 1} of ${record.lanes}`);
        const path = join(draft.folder, laneFile(lane));
        const copied = await whilePaused(commands, options.pauseMs, `lane ${lane}`, () =>
          copyLane(commands, name, lane, path),
        );
        lanes.push(copied.facts);
        files.push(copied.file);
      }
      // Copied after the lanes: no lane may know a newer policy than the deployment's record has.
      const path = join(draft.folder, DEPLOYMENT_FILE);
      files.push(
        await whilePaused(commands, options.pauseMs, 'the deployment', () => copyDeployment(commands, name, path)),
      );
      const { id: incarnation, schema } = record;
      return { store: 'redis', release: options.release, madeAt, incarnation, schema, lanes, files };
    });
  });
}

export const DEPLOYMENT_FILE = 'deployment.records';
export const laneFile = (lane: number): string => `lane-${lane}.records`;

interface CopiedFile {
  readonly name: string;
  readonly keys: number;
}

/**
 * Copies the deployment's own records, such as policy, catalog, tokens and names of pools. Three kinds are left out: workers register again
 * by themselves, the restore writes the incarnation, and the mark of the audit's statements belongs to the sink, which is not in the backup
 * either.
 */
async function copyDeployment(commands: Connection, name: string, path: string): Promise<CopiedFile> {
  const { workers, worker, incarnation, statements } = deploymentKeys(name);
  const skipped = (key: string): boolean =>
    [workers, incarnation, statements].includes(key) || key.startsWith(worker(''));
  return { name: DEPLOYMENT_FILE, keys: await copyKeys(commands, deploymentPrefix(name), path, skipped) };
}

async function copyLane(
  commands: Connection,
  name: string,
  lane: number,
  path: string,
): Promise<{ facts: LaneFacts; file: CopiedFile }> {
  const { meta, live } = laneKeys(name, lane);
  const keys = await copyKeys(commands, lanePrefix(name, lane), path, () => false);
  const sequence = await sendCommand(commands, 'HGET', [meta, 'auditSequence']);
  // Minus one: one member of the sorted set is an anchor and not a call (see found-lane.lua).
  const liveCalls = asNumber(await sendCommand(commands, 'ZCARD', [live])) - 1;
  return {
    facts: { lane, auditSequence: sequence === null ? 0 : asNumber(sequence), liveCalls },
    file: { name: laneFile(lane), keys },
  };
}

async function copyKeys(
  commands: Connection,
  prefix: string,
  path: string,
  isSkipped: (key: string) => boolean,
): Promise<number> {
  const writer = new RecordWriter(path);
  let count = 0;
  try {
    for await (const page of scanKeys(commands, prefix)) {
      const keys = page.filter((key) => !isSkipped(key));
      count += keys.length;
      const large = keys.filter((key) => key === `${prefix}calls`);
      for (const key of large) await copyHash(commands, key, writer);
      await copyDumped(
        commands,
        keys.filter((key) => !large.includes(key)),
        writer,
      );
    }
  } finally {
    writer.close();
  }
  return count;
}

/** All keys of a page are in one slot, so that they can be sent together on a cluster. */
async function copyDumped(commands: Connection, keys: readonly string[], writer: RecordWriter): Promise<void> {
  if (keys.length === 0) return;
  const answers = await sendTogether(
    commands,
    keys.flatMap((key): [string, string][] => [
      ['PEXPIRETIME', key],
      ['DUMP', key],
    ]),
  );
  keys.forEach((key, index) => {
    const [expiresAt, dump] = [asNumber(answers[2 * index]), answers[2 * index + 1]];
    // The key expired after it was listed.
    if (dump === null) return;
    if (asBytes(dump).byteLength > MAX_DUMP_BYTES) {
      const problem = `${key} is too large to be copied this way; use the server's own RDB or AOF files`;
      throw planeError('BACKUP_FAILED', { problem });
    }
    writer.write({ key, expiresAt: Math.max(0, expiresAt), dump: asBytes(dump) } satisfies DumpedKey);
  });
}

async function copyHash(commands: Connection, key: string, writer: RecordWriter): Promise<void> {
  let cursor = '0';
  do {
    const answer = asList(await sendForBytes(commands, 'HSCAN', [key, cursor, 'COUNT', FIELDS_PER_PART]));
    cursor = asText(answer[0]);
    const fields = asList(answer[1]).map(asBytes);
    if (fields.length > 0) writer.write({ key, fields } satisfies HashPart);
  } while (cursor !== '0');
}

/**
 * Pauses all writers and runs `read`. Throws if `read` ended more than `pauseMs` after the pause was requested: writers may have written
 * meanwhile.
 */
async function whilePaused<Result>(
  commands: Connection,
  pauseMs: number,
  what: string,
  read: () => Promise<Result>,
): Promise<Result> {
  const masters = mastersOf(commands);
  for (const node of masters) await untilReady(node, NODE_READY_TIMEOUT_MS);
  const startedAt = performance.now();
  try {
    for (const node of masters) await sendCommand(node, 'CLIENT', ['PAUSE', String(pauseMs), 'WRITE']);
    const result = await read();
    if (performance.now() - startedAt < pauseMs) return result;
  } finally {
    for (const node of masters) await sendCommand(node, 'CLIENT', ['UNPAUSE']).catch(() => undefined);
  }
  const problem = `${what} could not be read within the ${pauseMs} ms that writers wait (--pause), or use the server's own files`;
  throw planeError('BACKUP_FAILED', { problem });
}
