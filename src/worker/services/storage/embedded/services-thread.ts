// The thread that has the services' file open. It is a separate thread, because a search takes time that would block the worker's main thread.
import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import type { PlaneError } from '../../../../domain/errors/errors.ts';
import { isFatal, toPlaneError, type Database } from '../../../../stores/sqlite/database.ts';
import type { Batch, ListQuery, NewVector } from '../scoped-store.ts';
import { commitBatch, sweepExpired } from './documents.ts';
import {
  findPostings,
  keepVectors,
  listDocuments,
  listVectors,
  readDocuments,
  scopeNumber,
  scopeVersion,
} from './read-documents.ts';
import { openServicesFile } from './schema.ts';
import { SERVICES_FILE, type ThreadAnswer, type ThreadRequest } from './thread-messages.ts';

const SWEEP_EVERY_MS = 60_000;
const SWEPT_AT_ONCE = 1000;
const MAX_JOBS_PER_COMMIT = 256;
const WRITES: readonly string[] = ['commit', 'keepVectors'];

function openFile(folder: string): Database {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, SERVICES_FILE);
  // Create the file before SQLite does: the log that SQLite puts next to it gets the same mode.
  closeSync(openSync(path, 'a', 0o600));
  chmodSync(path, 0o600);
  return openServicesFile(path);
}

function perform(database: Database, { method, args }: ThreadRequest): unknown {
  const now = Date.now();
  const [name, collection] = args as [string, string];
  if (method === 'now') return database.get<{ one: number }>('SELECT 1 AS one') === undefined ? 0 : now;
  if (method === 'scopeVersion') return scopeVersion(database, name);
  if (method === 'commit') return commitBatch(database, name, args[1] as Batch, now);
  const scope = scopeNumber(database, name);
  switch (method) {
    case 'read':
      return readDocuments(database, scope, collection, args[2] as string[], now);
    case 'list':
      return listDocuments(database, scope, collection, args[2] as ListQuery, now);
    case 'postings':
      return findPostings(database, scope, collection, args[2] as string[], args[3] as number);
    case 'vectors':
      return listVectors(database, scope, collection, args[2] as number, now);
    case 'keepVectors':
      return keepVectors(database, scope, collection, args[2] as NewVector[]);
  }
}

/** Requests that arrive together share one transaction and one fsync. A request that fails rolls back only its own part. */
class ServicesThread {
  readonly #database: Database;
  readonly #answer: (answer: ThreadAnswer) => void;
  #queue: ThreadRequest[] = [];
  #scheduled = false;
  #broken: PlaneError | undefined;

  constructor(database: Database, answer: (answer: ThreadAnswer) => void) {
    this.#database = database;
    this.#answer = answer;
  }

  submit(request: ThreadRequest): void {
    this.#queue.push(request);
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.flush();
    });
  }

  flush(): void {
    while (this.#queue.length > 0) {
      const jobs = this.#queue.splice(0, MAX_JOBS_PER_COMMIT);
      const writes = jobs.some(({ method }) => WRITES.includes(method));
      for (const answer of writes ? this.#together(jobs) : jobs.map((job) => this.#alone(job))) this.#answer(answer);
    }
  }

  sweep(): void {
    if (this.#broken !== undefined) return;
    try {
      this.#database.begin();
      sweepExpired(this.#database, Date.now(), SWEPT_AT_ONCE);
      this.#database.commit();
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Runs jobs in one transaction. No job is answered before the commit has returned. */
  #together(jobs: readonly ThreadRequest[]): ThreadAnswer[] {
    try {
      if (this.#broken !== undefined) throw this.#broken;
      this.#database.begin();
      const answers = jobs.map((job) => this.#apart(job));
      this.#database.commit();
      return answers;
    } catch (error) {
      this.#failed(error);
      return jobs.map((job) => failure(job, error));
    }
  }

  #apart(job: ThreadRequest): ThreadAnswer {
    this.#database.execute('SAVEPOINT job');
    try {
      const value = perform(this.#database, job);
      this.#database.execute('RELEASE job');
      return { id: job.id, value };
    } catch (error) {
      if (isFatal(error)) throw error;
      this.#database.execute('ROLLBACK TO job; RELEASE job');
      return failure(job, error);
    }
  }

  #alone(job: ThreadRequest): ThreadAnswer {
    try {
      if (this.#broken !== undefined) throw this.#broken;
      return { id: job.id, value: perform(this.#database, job) };
    } catch (error) {
      return failure(job, error);
    }
  }

  /** After a disk error the database cannot be trusted any more: a repeated fsync reports success without having written. */
  #failed(error: unknown): void {
    if (isFatal(error)) this.#broken = toPlaneError(error);
    try {
      this.#database.rollback();
    } catch (cause) {
      this.#broken ??= toPlaneError(cause);
    }
  }
}

function failure({ id }: ThreadRequest, error: unknown): ThreadAnswer {
  const { code, facts } = toPlaneError(error);
  return { id, error: { code, facts } };
}

if (parentPort !== null) {
  const port = parentPort;
  const { folder } = workerData as { folder: string };
  try {
    const database = openFile(folder);
    const thread = new ServicesThread(database, (answer) => port.postMessage(answer));
    thread.sweep();
    const sweeping = setInterval(() => thread.sweep(), SWEEP_EVERY_MS);
    port.on('message', (message: ThreadRequest | 'close') => {
      if (message !== 'close') return thread.submit(message);
      clearInterval(sweeping);
      thread.flush();
      database.close();
      port.close();
    });
    port.postMessage({ id: 0, value: 'ready' } satisfies ThreadAnswer);
  } catch (error) {
    port.postMessage(failure({ id: 0, method: 'now', args: [] }, error));
    port.close();
  }
}
