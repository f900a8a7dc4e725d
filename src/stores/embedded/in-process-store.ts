import type { TrailStore } from '../../domain/ports/store.ts';
import { GroupCommit } from './group-commit.ts';
import { Lane } from './lane.ts';
import { watchPlace } from './ownership.ts';
import type { StoreFile } from './schema.ts';
import { StoreClock } from './store-clock.ts';
import { STORE_METHODS, type StoreMethod } from './store-methods.ts';

/** Implements the ports on a file that this process has open, without a thread or a socket. No other process can reach it. */
export function openInProcess(path: string, { database, incarnation, lanes }: StoreFile): TrailStore {
  const lane = new Lane(database, incarnation);
  const clock = new StoreClock(lane.clock);
  const file = { incarnation, openedAt: clock.now(), isInPlace: watchPlace(path) };
  const groupCommit = new GroupCommit({ database, lane, clock, file });
  const peer = {};
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
    auditLanes: Array.from({ length: lanes }, (_, lane) => lane),
    checkIncarnation: async () => void (await request('checkIncarnation', incarnation)),
    close: async () => groupCommit.close(),
  };
}
