import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CLOSED_POLICY } from '../../src/domain/policy/policy.ts';
import { adoptStore, inspectAdoptionOf } from '../../src/operate/adopt-store.ts';
import { backupEmbeddedStore, restoreEmbeddedStore } from '../../src/stores/embedded/backup-store.ts';
import { openEmbeddedStore } from '../../src/stores/embedded/embedded-store.ts';
import { temporaryFolder, type TemporaryFolder } from '../support/process.ts';

const quiet = { onProgress: () => undefined };

describe('a folder whose store was lost', () => {
  let top: TemporaryFolder;
  let folder: string;
  const file = (name = 'store.sqlite'): string => join(folder, name);
  const open = () => openEmbeddedStore({ folder, mode: 'own' });
  beforeEach(async () => {
    top = temporaryFolder('sallyport-lost');
    folder = join(top.path, 'store');
    const store = await open();
    await store.writePolicy({ expectedVersion: 0, policy: CLOSED_POLICY });
    await store.close();
  });
  afterEach(() => top.remove());

  const damages: readonly [string, () => void][] = [
    ['is empty', () => truncateSync(file())],
    ['is missing', () => rmSync(file())],
  ];

  it.each(damages)('is not given a new one when its file %s', async (found, damage) => {
    damage();
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await expect(open()).rejects.toMatchObject({ code: 'STORE_LOST', facts: { found } });
    }
    expect(existsSync(file()) ? statSync(file()).size : 0).toBe(0);
  });

  it.each([
    'plane.json',
    'redaction.key',
    'audit-keys/signing.pem',
    'audit-keys/last-statement.json',
    'store.sqlite-wal',
  ])('is known by %s, also without an id file', async (trace) => {
    rmSync(file('store.id'));
    rmSync(file());
    mkdirSync(file('audit-keys'), { recursive: true });
    writeFileSync(file(trace), 'x');
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await expect(open()).rejects.toMatchObject({ code: 'STORE_LOST', facts: { traces: [trace] } });
    }
    rmSync(file(trace));
    const store = await open();
    await store.close();
  });

  it('says which file is damaged, and how to bring a backup back', async () => {
    truncateSync(file(), 20_000);
    await expect(open()).rejects.toMatchObject({ code: 'STORE_DAMAGED', facts: { file: file() } });
    writeFileSync(file(), Buffer.alloc(40_000, 7));
    const failure = await open().catch((error: unknown) => error as { code: string; fix: string });
    expect(failure).toMatchObject({ code: 'STORE_DAMAGED' });
    expect((failure as { fix: string }).fix).toContain('sallyport store restore');
    await expect(inspectAdoptionOf({ store: 'embedded', folder })).rejects.toMatchObject({ code: 'STORE_DAMAGED' });
  });

  it('names a file without tables as lost', async () => {
    rmSync(file());
    copyFileSync(emptyDatabase(top.path), file());
    await expect(open()).rejects.toMatchObject({ code: 'STORE_LOST', facts: { found: 'has no tables' } });
  });

  it('takes a backup, and never the log of the lost file', async () => {
    const backup = join(top.path, 'backup');
    await backupEmbeddedStore({ folder }, { folder: backup, release: 'test', ...quiet });
    truncateSync(file());
    writeFileSync(file('store.sqlite-wal'), 'the log of another file');
    await restoreEmbeddedStore(folder, { folder: backup, ...quiet });
    expect(readdirSync(folder).some((name) => name.startsWith('store.sqlite-wal.lost-'))).toBe(true);
    expect(existsSync(file('store.sqlite-wal'))).toBe(false);
    const known = await inspectAdoptionOf({ store: 'embedded', folder });
    await adoptStore({ store: 'embedded', folder }, known, { rerun: false, retentionMs: 1000 });
    const store = await open();
    expect((await store.readPolicy()).version).toBe(1);
    await store.close();
  });

  it('gets an empty store only when an operator adopts that', async () => {
    truncateSync(file());
    const known = await inspectAdoptionOf({ store: 'embedded', folder });
    expect(known).toMatchObject({ kind: 'empty', findings: [expect.stringContaining('store.id')] });
    await adoptStore({ store: 'embedded', folder }, known, { rerun: false, retentionMs: 1000 });
    const store = await open();
    expect((await store.readPolicy()).version).toBe(0);
    await store.close();
  });

  it('is not taken for one where there was never any', async () => {
    const options = { store: 'embedded', folder: join(top.path, 'other') } as const;
    const known = await inspectAdoptionOf(options);
    await expect(adoptStore(options, known, { rerun: false, retentionMs: 1 })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    });
  });
});

/** What SQLite leaves of a file from which every table was dropped: a header. */
function emptyDatabase(folder: string): string {
  const path = join(folder, 'empty.sqlite');
  const header = Buffer.alloc(4096);
  header.write('SQLite format 3\0', 0, 'latin1');
  header.writeUInt16BE(4096, 16);
  header.set([1, 1, 0, 64, 32, 32], 18);
  header.writeUInt32BE(1, 28);
  header.writeUInt32BE(1, 56);
  // The root page: an empty leaf of a table.
  header.set([13, 0, 0, 0, 0, 16, 0, 0], 100);
  const descriptor = openSync(path, 'w');
  writeSync(descriptor, header);
  closeSync(descriptor);
  return path;
}
