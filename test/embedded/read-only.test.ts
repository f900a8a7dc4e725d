import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { EXIT_OF } from '../../src/cli/describe-failure.ts';
import { openEmbeddedStore } from '../../src/stores/embedded/embedded-store.ts';

// Nobody may make a folder in the file system of the kernel, root included.
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
