import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAboutCall } from '../../src/domain/audit/audit-record.ts';
import { openEmbeddedStore } from '../../src/stores/embedded/embedded-store.ts';
import { storeFile } from '../../src/stores/embedded/ownership.ts';
import { acceptOne, claimMany, openSession, settleRequest } from '../contract/fixtures.ts';
import { readWholeAudit } from '../contract/observe.ts';
import { eventually, temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { openDirectStore } from './direct-store.ts';
import { startLoad, type Load } from './store-load.ts';
import { startOwner } from './store-process.ts';
import { expectToGoOn, expectWhole } from './whole-store.ts';

const HEADER_BYTES = 32;
const FRAME_BYTES = 24 + 4096;
/** The number of calls that are settled before the torn log begins, so that they are in the file itself. */
const BEFORE = 5;

let folder: TemporaryFolder;
/** What a killed owner left behind. */
let data: Buffer;
let log: Buffer;
let load: Load;

beforeAll(async () => {
  folder = temporaryFolder('sallyport-torn');
  const killed = join(folder.path, 'killed');
  const first = await openEmbeddedStore({ folder: killed, mode: 'own' });
  const session = await openSession(first);
  for (let index = 0; index < BEFORE; index += 1) await acceptOne(first, session);
  for (const delivery of await claimMany(first)) await first.settleCall(settleRequest(delivery));
  await first.close();

  const owner = await startOwner(killed);
  const client = await openEmbeddedStore({ folder: killed, mode: 'connect', patienceMs: 0 });
  load = await startLoad(client);
  await eventually(() => load.settled.length >= 150, { what: 'load on the store' });
  owner.kill('SIGKILL');
  await load.ended;
  await client.close();
  await owner.exited;
  data = readFileSync(storeFile(killed));
  log = readFileSync(`${storeFile(killed)}-wal`);
});
afterAll(() => folder.remove());

interface History {
  readonly audited: readonly string[];
  readonly accepted: number;
}

/** Opens a copy with this log, and asserts that what it holds is whole. */
async function openWith(tornLog: Uint8Array, { goesOn = false } = {}): Promise<History> {
  const copy = temporaryFolder('sallyport-copy');
  const file = storeFile(copy.path);
  writeFileSync(file, data);
  writeFileSync(`${file}-wal`, tornLog);
  const { store, database, remove } = openDirectStore({ file });
  // Later writes need not survive a crash: the copy is deleted with the test.
  database.execute('PRAGMA synchronous = OFF');
  const audit = await readWholeAudit(store, 0);
  const { calls } = database.get<{ calls: number }>('SELECT count(*) AS calls FROM call')!;
  expectWhole(database);
  if (goesOn) await expectToGoOn(store);
  remove();
  copy.remove();
  return { audited: audit.filter(isAboutCall).map((entry) => entry.callId), accepted: calls };
}

/** Places to cut the log: in frames all over the log and in each of the last ones, at the frame's edge, in its head and in its page. */
function cuts(): number[] {
  const frames = Math.floor((log.byteLength - HEADER_BYTES) / FRAME_BYTES);
  const step = Math.max(1, Math.floor(frames / 20));
  const chosen = Array.from({ length: frames }, (_, index) => index).filter(
    (index) => index % step === 0 || index >= frames - 8,
  );
  const within = chosen.flatMap((index) => [0, 7, 24, 2_000].map((more) => HEADER_BYTES + index * FRAME_BYTES + more));
  return [0, 1, HEADER_BYTES - 1, ...within, log.byteLength - 1, log.byteLength];
}

const isPrefix = (part: readonly string[], whole: readonly string[]): boolean =>
  part.every((callId, index) => callId === whole[index]);

describe('the log of a killed owner', () => {
  it('opens as a prefix of history wherever its tail is cut off', async () => {
    const whole = await openWith(log);
    expect(whole.audited).toEqual(expect.arrayContaining(load.settled));
    expect(whole.accepted).toBeGreaterThanOrEqual(load.accepted.length + BEFORE);
    let last: History = { audited: [], accepted: 0 };
    const seen = new Set<number>();
    for (const [index, bytes] of cuts().entries()) {
      const history = await openWith(log.subarray(0, bytes), { goesOn: index % 8 === 0 });
      expect(isPrefix(history.audited, whole.audited), `the audit of the first ${bytes} bytes`).toBe(true);
      expect(history.audited.length).toBeGreaterThanOrEqual(Math.max(BEFORE, last.audited.length));
      expect(history.accepted).toBeGreaterThanOrEqual(last.accepted);
      seen.add(history.audited.length);
      last = history;
    }
    expect(last).toEqual(whole);
    // The cuts have led to more states than those after the first and the last commit.
    expect(seen.size).toBeGreaterThan(8);
  });

  it('opens as a prefix of history wherever a byte of it is wrong', async () => {
    const whole = await openWith(log);
    for (const at of cuts().filter((bytes) => bytes < log.byteLength)) {
      const wrong = Buffer.from(log);
      wrong[at]! ^= 0x40;
      const history = await openWith(wrong);
      expect(isPrefix(history.audited, whole.audited), `the audit with a wrong byte at ${at}`).toBe(true);
      expect(history.audited.length).toBeGreaterThanOrEqual(BEFORE);
    }
  });

  it('opens with the thread and the socket of a new owner when its tail is cut off', async () => {
    const torn = join(folder.path, 'torn');
    await (await openEmbeddedStore({ folder: torn, mode: 'own' })).close();
    copyFileSync(storeFile(join(folder.path, 'killed')), storeFile(torn));
    writeFileSync(`${storeFile(torn)}-wal`, log.subarray(0, log.byteLength - 1_000));
    const store = await openEmbeddedStore({ folder: torn, mode: 'own' });
    await expect(openEmbeddedStore({ folder: torn, mode: 'own' })).rejects.toMatchObject({
      code: 'STORE_OWNED',
      facts: { pid: process.pid },
    });
    const audit = await readWholeAudit(store, 0);
    expect(audit.length).toBeGreaterThan(BEFORE);
    await store.close();
  });
});
