import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { EXIT_OF } from '../../src/cli/describe-failure.ts';
import { openEmbeddedStore } from '../../src/stores/embedded/embedded-store.ts';
import { planeFolder, type PlaneFolder } from '../cli/plane-folder.ts';
import { failOnLeaks } from '../support/reaper.ts';

// Each test starts several processes one after the other.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;
const UNSAFE = EXIT_OF.STORE_FOLDER_UNSAFE;
let plane: PlaneFolder;
let folder: string;
beforeEach(() => {
  plane = planeFolder([], { SALLYPORT_FOLDER: 'pre' });
  folder = plane.file('pre');
});
afterEach(() => {
  plane.remove();
  failOnLeaks();
});

it('no command opens a store in a folder that others may write, and none is made there', async () => {
  mkdirSync(folder);
  chmodSync(folder, 0o777);
  const refused = await plane.cli('dev', '--modules', plane.modules);
  expect(refused).toMatchObject({ code: UNSAFE });
  expect(refused.stderr).toContain(`${folder} can be written by other users. Close it: chmod 700 `);
  expect(existsSync(join(folder, 'store.sqlite'))).toBe(false);
  const doctor = await plane.cli('doctor');
  expect(doctor.code).toBe(1);
  expect(doctor.stdout).toMatch(/bad +store +.*can be written by other users/);

  chmodSync(folder, 0o755);
  const dev = await plane.start('dev');
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(await plane.cli('store', 'backup', 'copy')).toMatchObject({ code: 0 });
  // The folder is opened to others while its owner runs: whoever connects would trust an address that others can change.
  chmodSync(folder, 0o777);
  expect(await plane.cli('calls', 'list')).toMatchObject({ code: UNSAFE });
  await expect(openEmbeddedStore({ folder, mode: 'connect' })).rejects.toMatchObject({ code: 'STORE_FOLDER_UNSAFE' });
  chmodSync(folder, 0o700);
  expect(await plane.cli('calls', 'list')).toMatchObject({ code: 0 });
  await dev.stop();

  mkdirSync(plane.file('other'));
  chmodSync(plane.file('other'), 0o777);
  const restored = await plane.cli('--folder', 'other', 'store', 'restore', 'copy');
  expect(restored).toMatchObject({ code: UNSAFE });
  expect(existsSync(plane.file('other/store.sqlite'))).toBe(false);
});

it.runIf(isRoot)('a store or a socket that another user put in place is not opened', async () => {
  const dev = await plane.start('dev');
  const { socket } = JSON.parse(readFileSync(join(folder, 'plane.json'), 'utf8')) as { socket: string };
  chownSync(socket, NOBODY, NOBODY);
  await expect(openEmbeddedStore({ folder, mode: 'connect' })).rejects.toMatchObject({
    code: 'STORE_FOLDER_UNSAFE',
    message: expect.stringContaining(`${socket} belongs to another user (uid ${NOBODY})`) as string,
  });
  chownSync(socket, 0, 0);
  await dev.stop();

  chownSync(join(folder, 'store.sqlite'), NOBODY, NOBODY);
  const refused = await plane.cli('dev', '--modules', plane.modules);
  expect(refused).toMatchObject({ code: UNSAFE });
  expect(refused.stderr).toContain(`store.sqlite belongs to another user (uid ${NOBODY})`);
});

it('every file of a folder that dev made is closed to others, but for public keys', async () => {
  const dev = await plane.start('dev');
  await dev.stop();
  const { stdout } = await plane.shell('find pre -type f -perm /077 ! -name "*.public.pem"');
  expect(stdout).toBe('');
});
