import { rmSync } from 'node:fs';
import { openEmbeddedStore } from '../../src/stores/embedded/embedded-store.ts';
import { storeFile } from '../../src/stores/embedded/ownership.ts';
import { temporaryFolder } from '../support/process.ts';
import type { Backend } from './scene.ts';

/** A folder of its own. The first connection owns the file, the others reach it over its socket, as other processes do. */
export async function createEmbeddedBackend(): Promise<Backend> {
  const folder = temporaryFolder('sallyport contract');
  return {
    open: () => openEmbeddedStore({ folder: folder.path }),
    replaceData: async () => {
      for (const ending of ['', '-wal', '-shm']) rmSync(`${storeFile(folder.path)}${ending}`, { force: true });
    },
    destroy: async () => folder.remove(),
  };
}
