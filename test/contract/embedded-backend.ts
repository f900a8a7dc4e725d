import { rmSync } from 'node:fs';
import { openEmbeddedStore } from '../../src/stores/embedded/embedded-store.ts';
import { storeFile } from '../../src/stores/embedded/ownership.ts';
import { openDirectStore, type DirectStore } from '../embedded/direct-store.ts';
import { temporaryFolder } from '../support/process.ts';
import type { Backend } from './scene.ts';

/** A store in a folder of its own. The first connection owns the file; the others reach it over its socket, as other processes do. */
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

/**
 * The same file without its thread and socket, which cost more than most tests: connections are peers of one writer in this process.
 * Tests of the thread and the socket use `createEmbeddedBackend`.
 */
export async function createInProcessBackend(): Promise<Backend> {
  const folder = temporaryFolder('sallyport contract');
  const file = storeFile(folder.path);
  let opened: { readonly direct: DirectStore; peers: number } | undefined;
  return {
    async open() {
      const current = (opened ??= { direct: openDirectStore({ file }), peers: 0 });
      const peer = {};
      const store = current.direct.asPeer(peer);
      current.peers += 1;
      let isOpen = true;
      const close = async (): Promise<void> => {
        if (!isOpen) return;
        isOpen = false;
        current.direct.groupCommit.withdraw(peer);
        current.peers -= 1;
        if (current.peers > 0) return;
        current.direct.remove();
        opened = undefined;
      };
      return { ...store, close };
    },
    replaceData: async () => {
      for (const ending of ['', '-wal', '-shm']) rmSync(`${file}${ending}`, { force: true });
    },
    destroy: async () => folder.remove(),
  };
}
