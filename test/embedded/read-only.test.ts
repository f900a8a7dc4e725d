import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { EXIT_OF } from '../../src/cli/describe-failure.ts';
import { openEmbeddedStore } from '../../src/stores/embedded/embedded-store.ts';
import { MAIN } from '../cli/run-cli.ts';
import { temporaryFolder } from '../support/process.ts';
import { startProgram } from '../support/watched-process.ts';
import { canMount } from './store-process.ts';

// No user, not even root, can make a folder in this file system of the kernel.
const KERNEL = '/sys';

it('a store on a read-only file system is refused with the path, not as a defect', async () => {
  expect(existsSync(KERNEL)).toBe(true);
  const folder = `${KERNEL}/sallyport-test`;
  await expect(openEmbeddedStore({ folder, mode: 'own' })).rejects.toMatchObject({
    code: 'STORE_READ_ONLY',
    message: expect.stringContaining(`${folder} cannot be written (`) as string,
  });
  expect(EXIT_OF.STORE_READ_ONLY).toBe(69);
});

it.skipIf(!canMount())('dev in a folder on a read-only file system says so in the words of the store', async () => {
  const disk = temporaryFolder('sallyport-read-only');
  const command = 'mount -t tmpfs -o ro tmpfs "$1" && exec "$2" "$3" dev --folder "$1/new"';
  const dev = await startProgram('unshare', [
    '--mount',
    'bash',
    '-c',
    command,
    'bash',
    disk.path,
    process.execPath,
    MAIN,
  ]);
  expect((await dev.exited).code).toBe(EXIT_OF.STORE_READ_ONLY);
  expect(dev.stderr).toContain(`sallyport: The store cannot be opened: ${disk.path} cannot be written (EROFS).`);
  expect(dev.stderr).not.toContain(join(disk.path, 'new'));
  disk.remove();
});
