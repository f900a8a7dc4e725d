import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { LayerOptions } from '../../../chaos/layers/layer.ts';
import type { PlaneError } from '../../../src/domain/errors/errors.ts';
import { Database } from '../../../src/stores/sqlite/database.ts';
import { openEmbeddedStore } from '../../../src/stores/embedded/embedded-store.ts';
import { closeStoreFile } from '../../../src/stores/embedded/schema.ts';
import { acceptOne, claimOne, newWaiter, openSession, settleRequest, startRequest } from '../../contract/fixtures.ts';
import { openDirectStore, type DirectStore } from '../../embedded/direct-store.ts';
import { expectNothingLost, startLoad } from '../../embedded/store-load.ts';
import { startOwner, startOwnerWithSmallFiles } from '../../embedded/store-process.ts';
import { expectToGoOn, expectWhole } from '../../embedded/whole-store.ts';
import { temporaryFolder } from '../../support/process.ts';
import type { Tally } from './tally.ts';

const FLIPPED_BYTES = 4096;
/** The size of the last frame of a step. With all of its bytes the step is committed; if one byte is missing, it is not. */
const COMMIT_FRAME_BYTES = 24 + 4096;

/** A step of the recording: the length of the log after it, and a digest of the file's content at that time. */
interface Step {
  readonly name: string;
  readonly logBytes: number;
  readonly digest: string;
}

interface Recorded {
  readonly data: Buffer;
  readonly log: Buffer;
  readonly steps: readonly Step[];
}

/** A digest of every row of every table. */
function digestOf(database: Database): string {
  const hash = createHash('sha256');
  const tables = database.all<{ name: string }>(
    `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`,
  );
  for (const { name } of tables) {
    hash.update(`${name}\n`);
    for (const row of database.all<Record<string, unknown>>(`SELECT * FROM "${name}" ORDER BY 1, 2`)) {
      hash.update(JSON.stringify(row, (_, value: unknown) => (value instanceof Uint8Array ? [...value] : value)));
    }
  }
  return hash.digest('hex');
}

/** Makes some calls on a file and reads the file without closing the store: that is what a kill at the end would leave. */
async function recordSteps(): Promise<Recorded> {
  const folder = temporaryFolder('sallyport-steps');
  const file = join(folder.path, 'store.sqlite');
  const direct = openDirectStore({ file });
  const { store, database } = direct;
  try {
    const session = await openSession(store);
    const waiter = newWaiter();
    await acceptOne(store, session, { waiter });
    await store.settleCall(settleRequest(await claimOne(store)));
    await acceptOne(store, session, { waiter });
    // The steps before this checkpoint are in the file itself, not in the log.
    database.execute('PRAGMA wal_checkpoint(TRUNCATE)');
    const data = readFileSync(file);
    const steps: Step[] = [{ name: 'nothing', logBytes: 0, digest: digestOf(database) }];
    const note = (name: string): void =>
      void steps.push({ name, logBytes: readFileSync(`${file}-wal`).byteLength, digest: digestOf(database) });
    const first = await claimOne(store);
    note('claim');
    await store.startCall(startRequest(first));
    note('start');
    await acceptOne(store, session, { waiter });
    note('accept');
    await store.settleCall(settleRequest(first));
    note('settle');
    return { data, log: readFileSync(`${file}-wal`), steps };
  } finally {
    direct.remove();
    folder.remove();
  }
}

/** Opens a file and its log as a crash would leave them, passes the database to `look`, and closes it. */
function openAs(file: string, { data, log }: Pick<Recorded, 'data' | 'log'>, look: (database: Database) => void): void {
  writeFileSync(file, data);
  writeFileSync(`${file}-wal`, log);
  const database = new Database(file, 0);
  try {
    database.execute('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF');
    look(database);
  } finally {
    closeStoreFile({ database, incarnation: '', lanes: 1 });
  }
}

/** Every `every`-th place between `from` and `to`, and all of the last `each` places. */
function places(from: number, to: number, every: number, each: number): number[] {
  const all = Array.from({ length: to - from }, (_, index) => from + index);
  return all.filter((place, index) => index % every === 0 || place >= to - each);
}

async function tearLog(tally: Tally, recorded: Recorded, short: boolean): Promise<void> {
  const folder = temporaryFolder('sallyport-cut');
  const file = join(folder.path, 'store.sqlite');
  const every = short ? 499 : 17;
  for (const [number, step] of recorded.steps.entries()) {
    const before = recorded.steps[number - 1];
    if (before === undefined) continue;
    for (const bytes of places(before.logBytes, step.logBytes, every, short ? 8 : COMMIT_FRAME_BYTES)) {
      await tally.attempt(`the log cut at byte ${bytes}, in ${step.name}`, () =>
        openAs(file, { data: recorded.data, log: recorded.log.subarray(0, bytes) }, (database) =>
          expect(digestOf(database) === before.digest, 'it is as before that step').toBe(true),
        ),
      );
    }
    await tally.attempt(`the log cut after ${step.name}`, () =>
      openAs(file, { data: recorded.data, log: recorded.log.subarray(0, step.logBytes) }, (database) =>
        expect(digestOf(database) === step.digest, 'it is as after that step').toBe(true),
      ),
    );
  }
  folder.remove();
}

/** A step with a wrong bit anywhere in it counts as not written. */
async function flipBits(tally: Tally, recorded: Recorded, every: number): Promise<void> {
  const folder = temporaryFolder('sallyport-flipped');
  const file = join(folder.path, 'store.sqlite');
  const digests = recorded.steps.map((step) => step.digest);
  const last = recorded.log.byteLength;
  for (let bit = (last - FLIPPED_BYTES) * 8; bit < last * 8; bit += every) {
    const log = Buffer.from(recorded.log);
    log[bit >> 3]! ^= 1 << (bit & 7);
    const stepHit = recorded.steps.findIndex((step) => step.logBytes > bit >> 3);
    await tally.attempt(`bit ${bit} of the log wrong`, () =>
      openAs(file, { data: recorded.data, log }, (database) =>
        expect(digests.indexOf(digestOf(database)), 'the last step that is there').toBe(stepHit - 1),
      ),
    );
  }
  folder.remove();
}

/** A store opened on each torn log, in the way that the product opens it, is whole and takes new calls. */
async function goOnFromCuts(tally: Tally, { data, log, steps }: Recorded): Promise<void> {
  for (const { name, logBytes } of steps.slice(1)) {
    for (const bytes of [logBytes - 1, logBytes]) {
      await tally.attempt(`the store opened with a log cut at byte ${bytes}, ${name}`, async () => {
        const folder = temporaryFolder('sallyport-goes-on');
        const file = join(folder.path, 'store.sqlite');
        writeFileSync(file, data);
        writeFileSync(`${file}-wal`, log.subarray(0, bytes));
        const direct = openDirectStore({ file });
        try {
          expectWhole(direct.database);
          await expectToGoOn(direct.store);
          expectWhole(direct.database);
        } finally {
          direct.remove();
          folder.remove();
        }
      });
    }
  }
}

/** Limits the file to a number of additional pages, for every number until everything fits. */
async function fillPages(tally: Tally, every: number): Promise<void> {
  const most = 64;
  for (let more = 0; more < most; more += every) {
    await tally.attempt(`a file with room for ${more} pages`, async () => {
      const direct: DirectStore = openDirectStore();
      const { store, database, remove } = direct;
      try {
        database.execute('PRAGMA synchronous = OFF');
        const { pages } = database.get<{ pages: number }>('SELECT page_count AS pages FROM pragma_page_count()')!;
        const session = await openSession(store);
        const waiter = newWaiter();
        database.execute(`PRAGMA max_page_count = ${pages + more}`);
        const load = await startLoad(store).catch((error: unknown) => error as Error);
        const codes = load instanceof Error ? [(load as Partial<PlaneError>).code ?? load.message] : await load.ended;
        database.execute('PRAGMA max_page_count = 1000000');
        expect(new Set(codes)).toEqual(new Set(['STORE_FULL']));
        if (!(load instanceof Error)) await expectNothingLost(store, load);
        await acceptOne(store, session, { waiter });
        await expectToGoOn(store);
      } finally {
        remove();
      }
    });
  }
}

/** Limits the size of every file through the operating system, for every size from the smallest with which the store opens. */
async function fillFiles(tally: Tally, everyKib: number): Promise<void> {
  const smallest = 400;
  const largest = 800;
  for (let kib = smallest; kib <= largest; kib += everyKib) {
    await tally.attempt(`files of at most ${kib} KiB`, async () => {
      const folder = temporaryFolder('sallyport-small-files');
      try {
        const owner = await startOwnerWithSmallFiles(folder.path, kib);
        const client = await openEmbeddedStore({ folder: folder.path, mode: 'connect', patienceMs: 0 });
        const load = await startLoad(client);
        const codes = new Set(await load.ended);
        owner.kill('SIGKILL');
        await owner.exited;
        await client.close();
        expect([...codes].filter((code) => code !== 'STORE_FULL' && code !== 'STORE_FAILED')).toEqual([]);
        const next = await openEmbeddedStore({ folder: folder.path, mode: 'own' });
        await expectNothingLost(next, load);
        await expectToGoOn(next);
        await next.close();
      } finally {
        folder.remove();
      }
    });
  }
}

async function refuseSecondOpener(tally: Tally): Promise<void> {
  await tally.attempt('a second opener', async () => {
    const folder = temporaryFolder('sallyport-second');
    const owner = await startOwner(folder.path);
    try {
      const opening = openEmbeddedStore({ folder: folder.path, mode: 'own' });
      await expect(opening).rejects.toMatchObject({ code: 'STORE_OWNED', facts: { pid: owner.pid } });
    } finally {
      await owner.stop();
      folder.remove();
    }
  });
}

/** The short form leaves out what the tests of the embedded store already do: they fill disks and refuse second openers. */
export async function tortureEmbedded(tally: Tally, { short }: LayerOptions): Promise<void> {
  const recorded = await recordSteps();
  await tearLog(tally, recorded, short);
  await flipBits(tally, recorded, short ? 331 : 1);
  await goOnFromCuts(tally, recorded);
  if (short) return;
  await fillPages(tally, 1);
  await fillFiles(tally, 4);
  await refuseSecondOpener(tally);
}
