import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { planeError, PlaneError } from '../../../../domain/errors/errors.ts';
import type { ScopedStore } from '../scoped-store.ts';
import type { ThreadAnswer, ThreadRequest } from './thread-messages.ts';

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Opens the services' own SQLite file in the store's folder. A thread of this process has the file open. */
export async function openEmbeddedScopes(folder: string): Promise<ScopedStore> {
  const thread = new Worker(threadScript(), {
    name: 'sallyport-services',
    workerData: { folder },
    execArgv: [],
  });
  const waiting = new Map<number, Waiting>();
  let lastId = 0;
  let ended: Error | undefined;
  const exited = new Promise<void>((resolve) => {
    thread.once('exit', () => {
      ended ??= planeError('STORE_UNAVAILABLE', { problem: 'the thread of the services has ended' });
      for (const { reject } of waiting.values()) reject(ended);
      waiting.clear();
      resolve();
    });
  });
  thread.once('error', (error) => {
    const problem = error instanceof Error ? error.message : 'unknown';
    ended = planeError('STORE_FAILED', { problem: `the thread of the services failed: ${problem}` });
  });
  thread.on('message', (answer: ThreadAnswer) => {
    const asked = waiting.get(answer.id);
    waiting.delete(answer.id);
    if ('error' in answer) asked?.reject(new PlaneError(answer.error.code, answer.error.facts));
    else asked?.resolve(answer.value);
  });
  await new Promise((resolve, reject) => waiting.set(0, { resolve, reject }));

  function ask(method: ThreadRequest['method']) {
    // Values that cross the thread have no static type; ScopedStore gives each method its types.
    return (...args: unknown[]): Promise<never> =>
      new Promise((resolve, reject) => {
        if (ended !== undefined) return reject(ended);
        lastId += 1;
        waiting.set(lastId, { resolve: resolve as (value: unknown) => void, reject });
        thread.postMessage({ id: lastId, method, args } satisfies ThreadRequest);
      });
  }

  return {
    commit: ask('commit'),
    read: ask('read'),
    list: ask('list'),
    postings: ask('postings'),
    vectors: ask('vectors'),
    keepVectors: ask('keepVectors'),
    scopeVersion: ask('scopeVersion'),
    now: ask('now'),
    async close() {
      ended ??= planeError('STORE_UNAVAILABLE', { problem: 'it was closed' });
      thread.postMessage('close');
      await exited;
    },
  };
}

/** The script is next to this file when compiled. It is in `dist` when the sources are run directly, as the tests do. */
function threadScript(): string {
  const place = import.meta.url.endsWith('.ts')
    ? '../../../../../dist/worker/services/storage/embedded/services-thread.js'
    : './services-thread.js';
  return fileURLToPath(new URL(place, import.meta.url));
}
