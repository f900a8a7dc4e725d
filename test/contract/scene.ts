import { afterEach, beforeEach } from 'vitest';
import type { Store } from '../../src/domain/ports/store.ts';

/** One set of data, new for every test, and as many connections to it as a test needs. */
export interface Backend {
  /** Opens another connection to the same data, as another process would. */
  open(): Promise<Store>;
  /** Deletes the data behind the open connections, as FLUSHALL or an older backup would. */
  replaceData?(): Promise<void>;
  destroy(): Promise<void>;
}

export type CreateBackend = () => Promise<Backend>;

/** The interface of a test to its backend. Everything that is opened here is closed after the test. */
export interface Scene {
  open(): Promise<Store>;
  openPair(): Promise<[Store, Store]>;
  openMany(count: number): Promise<Store[]>;
  /** Undefined where the data cannot be deleted under an open store. */
  replaceData(): Promise<void> | undefined;
}

export function prepareScene(createBackend: CreateBackend): Scene {
  let backend: Backend | undefined;
  let opened: Store[] = [];

  beforeEach(async () => {
    backend = await createBackend();
  });
  afterEach(async () => {
    const closing = opened;
    opened = [];
    try {
      // The first connection may serve the others, so it is closed last.
      for (const store of closing.reverse()) await store.close();
    } finally {
      await backend?.destroy();
      backend = undefined;
    }
  });

  const current = (): Backend => {
    if (backend === undefined) throw new Error('A scene can only be used inside a test');
    return backend;
  };
  const open = async (): Promise<Store> => {
    const store = await current().open();
    opened.push(store);
    return store;
  };
  return {
    open,
    openPair: async () => [await open(), await open()],
    openMany: (count) => Promise.all(Array.from({ length: count }, open)),
    replaceData: () => current().replaceData?.(),
  };
}
