import { chmodSync, chownSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '../../../test/support/process.ts';
import { PlaneError } from '../../domain/errors/errors.ts';
import { closeToOthers, refuseForeignSocket, refuseUnsafeFolder } from './check-folder.ts';
import { takeOwnership } from './ownership.ts';

const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;
let around: TemporaryFolder;
let folder: string;
beforeEach(() => {
  around = temporaryFolder();
  folder = join(around.path, 'plane');
  mkdirSync(folder, { mode: 0o700 });
});
afterEach(() => around.remove());

const modeOf = (path: string): number => statSync(path).mode & 0o777;

function refusalOf(check: () => unknown): string {
  try {
    check();
  } catch (error) {
    return error instanceof PlaneError ? `${error.code}: ${error.message}` : String(error);
  }
  return 'not refused';
}

describe('a folder for the store', () => {
  it.each([0o777, 0o1777, 0o770, 0o722])(
    'in which others may write (%o) is refused, and the command is named',
    (mode) => {
      chmodSync(folder, mode);
      expect(refusalOf(() => refuseUnsafeFolder(folder))).toContain(
        `${folder} can be written by other users. Close it: chmod 700 ${folder}.`,
      );
      expect(refusalOf(() => takeOwnership(folder))).toMatch(/^STORE_FOLDER_UNSAFE: .*chmod 700/);
      expect(modeOf(folder)).toBe(mode & 0o777);
    },
  );

  it('below a folder that all users can write is refused, also through a link, unless that one is sticky', () => {
    const open = join(around.path, 'open');
    mkdirSync(join(open, 'plane'), { recursive: true, mode: 0o700 });
    chmodSync(open, 0o777);
    const link = join(around.path, 'link');
    symlinkSync(join(open, 'plane'), link);
    for (const place of [join(open, 'plane'), join(open, 'new'), link])
      expect(refusalOf(() => refuseUnsafeFolder(place))).toContain(`chmod o-w ${open}`);
    chmodSync(open, 0o1777);
    for (const place of [join(open, 'plane'), join(open, 'new'), link]) refuseUnsafeFolder(place);
  });

  it.each(['store.sqlite', 'store.sqlite-wal', 'store.id', 'plane.json'])(
    'in which others may write %s is refused',
    (name) => {
      writeFileSync(join(folder, name), '', { mode: 0o600 });
      refuseUnsafeFolder(folder);
      chmodSync(join(folder, name), 0o666);
      expect(refusalOf(() => refuseUnsafeFolder(folder))).toContain(`chmod 600 ${join(folder, name)}`);
    },
  );

  it.runIf(isRoot)('that belongs to another user, or in which a file or a link of the store does, is refused', () => {
    const file = join(folder, 'store.sqlite');
    writeFileSync(file, '', { mode: 0o600 });
    chownSync(file, NOBODY, NOBODY);
    expect(refusalOf(() => refuseUnsafeFolder(folder))).toContain(`${file} belongs to another user (uid ${NOBODY})`);
    chownSync(file, 0, 0);
    chownSync(folder, NOBODY, NOBODY);
    expect(refusalOf(() => refuseUnsafeFolder(folder))).toContain(`${folder} belongs to another user`);
  });

  it.runIf(isRoot)('is not asked at a socket of another user', () => {
    const socket = join(folder, 'store.sock');
    writeFileSync(socket, '');
    refuseForeignSocket(socket);
    chownSync(socket, NOBODY, NOBODY);
    expect(refusalOf(() => refuseForeignSocket(socket))).toContain(`${socket} belongs to another user`);
    refuseForeignSocket(join(folder, 'gone', 'store.sock'));
  });
});

describe('a folder that others can read', () => {
  beforeEach(() => chmodSync(folder, 0o755));

  it('is closed when it holds only what Sallyport makes', () => {
    for (const name of ['store.sqlite-wal', 'store.id', 'redaction.key']) writeFileSync(join(folder, name), '');
    mkdirSync(join(folder, 'audit-keys'));
    closeToOthers(folder);
    expect(modeOf(folder)).toBe(0o700);
  });

  it('is refused when it holds more, and stays as it is', () => {
    writeFileSync(join(folder, 'index.html'), '');
    expect(refusalOf(() => closeToOthers(folder))).toContain(
      `holds more than the store (index.html). Close it: chmod 700 ${folder}. Or name a folder of its own with --folder.`,
    );
    expect(refusalOf(() => closeToOthers(folder))).toMatch(/^STORE_FOLDER_UNSAFE: /);
    expect(modeOf(folder)).toBe(0o755);
  });
});

it('the file of the lock is closed to others before SQLite makes its journal', () => {
  const before = process.umask(0);
  try {
    takeOwnership(folder)?.release();
  } finally {
    process.umask(before);
  }
  expect(modeOf(join(folder, 'owner.sqlite'))).toBe(0o600);
});
