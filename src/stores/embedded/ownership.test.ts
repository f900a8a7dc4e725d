import { existsSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '../../../test/support/process.ts';
import {
  makeSocketPath,
  readOnlyError,
  readPlaneAddress,
  refuseReadOnly,
  removePlaneAddress,
  takeOwnership,
  writePlaneAddress,
} from './ownership.ts';
import { PROTOCOL_VERSION } from './rpc.ts';

let folder: TemporaryFolder;
const made: string[] = [];
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => {
  vi.unstubAllEnvs();
  for (const path of made.splice(0)) rmSync(dirname(path), { recursive: true, force: true });
  folder.remove();
});

function socketIn(runtimeFolder: string): string {
  vi.stubEnv('XDG_RUNTIME_DIR', runtimeFolder);
  const path = makeSocketPath();
  made.push(path);
  return path;
}

it('the socket gets a new private folder in the runtime folder of the user', () => {
  const [one, other] = [socketIn(folder.path), socketIn(folder.path)];
  expect(dirname(dirname(one))).toBe(folder.path);
  expect(dirname(other)).not.toBe(dirname(one));
  expect(statSync(dirname(one)).mode & 0o777).toBe(0o700);
});

it('a runtime folder that is too long for a socket, or missing, is passed over', () => {
  for (const unusable of [join(folder.path, 'x'.repeat(90)), join(folder.path, 'missing')]) {
    const path = socketIn(unusable);
    expect(path.startsWith(unusable)).toBe(false);
    expect(Buffer.byteLength(path)).toBeLessThanOrEqual(103);
  }
});

it('ownership is held by one at a time and free again after its release', () => {
  const first = takeOwnership(folder.path);
  expect(first).toBeDefined();
  expect(takeOwnership(folder.path)).toBeUndefined();
  first?.release();
  const second = takeOwnership(folder.path);
  expect(second).toBeDefined();
  second?.release();
});

it('an address is read as it was written, and removed together with its socket', () => {
  const socket = socketIn(folder.path);
  writePlaneAddress(folder.path, socket);
  expect(readPlaneAddress(folder.path)).toEqual({ pid: process.pid, socket, version: PROTOCOL_VERSION });
  removePlaneAddress(folder.path);
  expect(readPlaneAddress(folder.path)).toBeUndefined();
  expect(existsSync(dirname(socket))).toBe(false);
});

describe('a store that this user may not write', () => {
  const refused = (path: string, code: string): Error =>
    Object.assign(new Error(`${code}: access '${path}'`), { code, path });

  it.each([
    ['the folder', '', 'EROFS'],
    ['the file of the lock', 'owner.sqlite', 'EACCES'],
    ['the file of the store', 'store.sqlite', 'EACCES'],
    ['the log of the store', 'store.sqlite-wal', 'EPERM'],
  ])('is refused with the path of %s', (_what, name, code) => {
    const path = join(folder.path, name);
    // Root may write everything, so the refusal of the system is injected.
    const access = (asked: string): void => {
      if (asked === path) throw refused(path, code);
    };
    expect(() => refuseReadOnly(folder.path, access)).toThrow(
      expect.objectContaining({
        code: 'STORE_READ_ONLY',
        message: expect.stringContaining(`${path} cannot be written (${code})`) as string,
      }),
    );
  });

  it('is not mistaken for one that does not exist yet, or for other errors', () => {
    expect(() => refuseReadOnly(join(folder.path, 'new'))).not.toThrow();
    expect(readOnlyError(refused('/x', 'EROFS'))).toMatchObject({ code: 'STORE_READ_ONLY' });
    for (const other of [refused('/x', 'ENOENT'), new Error('x'), undefined])
      expect(readOnlyError(other)).toBeUndefined();
  });
});
