import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { openEmbeddedStore } from '../../src/stores/embedded/embedded-store.ts';
import { temporaryFolder } from '../support/process.ts';
import type { Backend } from './scene.ts';

/** A folder of its own. The first connection owns the file, the others reach it over the socket. */
export async function createEmbeddedBackend(): Promise<Backend> {
  const folder = temporaryFolder('sallyport contract');
  return {
    open: () => openEmbeddedStore({ folder: folder.path }),
    replaceData: async () => {
      for (const name of ['store.sqlite', 'store.sqlite-wal']) rmSync(join(folder.path, name), { force: true });
    },
    destroy: async () => folder.remove(),
  };
}
