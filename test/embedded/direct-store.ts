import { join } from 'node:path';
import type { TrailStore } from '../../src/domain/ports/store.ts';
import type { Database } from '../../src/stores/sqlite/database.ts';
import { GroupCommit } from '../../src/stores/embedded/group-commit.ts';
import { Lane } from '../../src/stores/embedded/lane.ts';
import { watchPlace } from '../../src/stores/embedded/ownership.ts';
import { closeStoreFile, openStoreFile } from '../../src/stores/embedded/schema.ts';
import { StoreClock } from '../../src/stores/embedded/store-clock.ts';
import { STORE_METHODS, type StoreMethod } from '../../src/stores/embedded/store-methods.ts';
import { temporaryFolder } from '../support/process.ts';

/** The store without its thread and sockets, so that a test sees every commit and reaches the file's connection. */
export interface DirectStore {
  readonly store: TrailStore;
  readonly groupCommit: GroupCommit;
  readonly database: Database;
  readonly lane: Lane;
  /** The same store, with requests made in the name of `peer`. A test can withdraw all of them, as when a client's process disconnects. */
  readonly asPeer: (peer: object) => TrailStore;
  readonly remove: () => void;
}

export interface DirectStoreOptions {
  /** An existing file, which is kept. Default: a new file that is deleted with the store. */
  readonly file?: string;
  /** Milliseconds; default: the clock of the system. */
  readonly now?: () => number;
  /** May replace the store's connection to the file with one that fails. */
  readonly breakDatabase?: (database: Database) => Database;
}

export function openDirectStore(options: DirectStoreOptions = {}): DirectStore {
  const folder = options.file === undefined ? temporaryFolder('sallyport-direct') : undefined;
  const path = options.file ?? join(folder!.path, 'store.sqlite');
  const opened = openStoreFile(path);
  const { database: connection, incarnation, lanes } = opened;
  const database = options.breakDatabase?.(connection) ?? connection;
  const lane = new Lane(database, incarnation);
  const clock = options.now === undefined ? new StoreClock(lane.clock) : new StoreClock(0, options.now, () => 0);
  const file = { incarnation, openedAt: clock.now(), isInPlace: watchPlace(path) };
  const groupCommit = new GroupCommit({ database, lane, clock, file });

  const asPeer = (peer: object): TrailStore => {
    const request = (method: StoreMethod, argument: unknown): Promise<unknown> =>
      new Promise((resolve, reject) =>
        groupCommit.submit({
          method,
          argument,
          peer,
          answer: (answer) => (answer.kind === 'answered' ? resolve(answer.value) : reject(answer.error)),
        }),
      );
    const methods = Object.fromEntries(
      STORE_METHODS.map((method) => [method, (argument?: unknown) => request(method, argument)]),
    );
    return {
      ...(methods as unknown as Pick<TrailStore, StoreMethod>),
      lanes,
      auditLanes: [0],
      checkIncarnation: async () => void (await request('checkIncarnation', incarnation)),
      close: async () => groupCommit.close(),
    };
  };
  return {
    store: asPeer({}),
    groupCommit,
    database,
    lane,
    asPeer,
    remove: () => {
      groupCommit.close();
      closeStoreFile(opened);
      folder?.remove();
    },
  };
}
