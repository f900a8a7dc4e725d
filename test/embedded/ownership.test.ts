import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openEmbeddedStore, type EmbeddedStoreOptions } from '../../src/stores/embedded/embedded-store.ts';
import type { PlaneAddress } from '../../src/stores/embedded/ownership.ts';
import { acceptOne, acceptRequest, claimMany, openSession } from '../contract/fixtures.ts';
import { eventually, temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import type { WatchedProcess } from '../support/watched-process.ts';
import { startOwner } from './store-process.ts';

type OpenedStore = Awaited<ReturnType<typeof openEmbeddedStore>>;

let top: TemporaryFolder;
let folder: string;
let stores: OpenedStore[] = [];
let owners: WatchedProcess[] = [];
beforeEach(() => {
  top = temporaryFolder('sallyport with spaces');
  folder = join(top.path, 'a plane', '.sallyport');
});
afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()));
  await Promise.all(owners.map((owner) => owner.stop()));
  stores = [];
  owners = [];
  top.remove();
});

async function open(
  mode: NonNullable<EmbeddedStoreOptions['mode']> = 'auto',
  more: Pick<EmbeddedStoreOptions, 'patienceMs' | 'answerWithinMs'> = {},
): Promise<OpenedStore> {
  const store = await openEmbeddedStore({ folder, mode, ...more });
  stores.push(store);
  return store;
}

async function own(): Promise<WatchedProcess> {
  const owner = await startOwner(folder);
  owners.push(owner);
  return owner;
}

async function kill(owner: WatchedProcess): Promise<void> {
  owner.kill('SIGKILL');
  await owner.exited;
}

/** Resolves when every thread of the process stands still: the signal reaches them one after the other. */
async function stop(owner: WatchedProcess): Promise<void> {
  owner.kill('SIGSTOP');
  const tasks = `/proc/${owner.pid}/task`;
  const standsStill = (task: string): boolean => / T \d/.test(readFileSync(join(tasks, task, 'stat'), 'utf8'));
  await eventually(() => readdirSync(tasks).every(standsStill), { what: 'every thread of the owner to stop' });
}

/** Watches a request from the start, so that its refusal is never unhandled. */
const refusalOf = (request: Promise<unknown>): Promise<unknown> =>
  request.then(
    () => 'answered',
    (error: unknown) => error,
  );

const address = (): PlaneAddress => JSON.parse(readFileSync(join(folder, 'plane.json'), 'utf8')) as PlaneAddress;
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

it('a second owner is refused with the file and the pid of the first', async () => {
  const owner = await own();
  await expect(open('own')).rejects.toMatchObject({
    code: 'STORE_OWNED',
    facts: { file: join(folder, 'store.sqlite'), pid: owner.pid },
  });
});

it('a second owner in the same process is refused too', async () => {
  await open('own');
  await expect(open('own')).rejects.toMatchObject({ code: 'STORE_OWNED', facts: { pid: process.pid } });
});

it('auto opens the file when it is free and connects when it is not', async () => {
  const first = await open('auto');
  const second = await open('auto');
  expect([first.role, second.role]).toEqual(['owner', 'client']);
  const session = await openSession(first);
  const callId = await acceptOne(second, session);
  expect(await first.readCall(callId)).toMatchObject({ callId, state: 'queued' });
});

it('connect never opens the file', async () => {
  await expect(open('connect')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  expect(existsSync(join(folder, 'store.sqlite'))).toBe(false);
});

it('socket, address and data can be used by their user only', async () => {
  await open('own');
  const { socket, pid } = address();
  expect(pid).toBe(process.pid);
  expect(statSync(socket).isSocket()).toBe(true);
  expect({
    socket: modeOf(socket),
    runtimeFolder: modeOf(dirname(socket)),
    folder: modeOf(folder),
    plane: modeOf(join(folder, 'plane.json')),
    store: modeOf(join(folder, 'store.sqlite')),
    log: modeOf(join(folder, 'store.sqlite-wal')),
    owner: modeOf(join(folder, 'owner.sqlite')),
  }).toEqual({
    socket: '600',
    runtimeFolder: '700',
    folder: '700',
    plane: '600',
    store: '600',
    log: '600',
    owner: '600',
  });
});

it('closing leaves one file of data, no address and no socket', async () => {
  const store = await open('own');
  const { socket } = address();
  await store.close();
  expect(existsSync(join(folder, 'plane.json'))).toBe(false);
  expect(existsSync(join(folder, 'store.sqlite-wal'))).toBe(false);
  expect(existsSync(dirname(socket))).toBe(false);
});

it('the files of a killed owner do not stop the next one', async () => {
  const owner = await own();
  const session = await openSession(await open('connect'));
  const stale = address();
  await kill(owner);
  expect(existsSync(stale.socket)).toBe(true);
  const next = await open('own');
  expect(await next.readSession(session.id)).toBeDefined();
  expect(existsSync(dirname(stale.socket))).toBe(false);
  expect(address().pid).toBe(process.pid);
});

it('an address that cannot be read, or leads nowhere, does not stop the next owner', async () => {
  await (await open('own')).close();
  writeFileSync(join(folder, 'plane.json'), '{"pid": 1');
  await (await open('auto')).close();
  writeFileSync(join(folder, 'plane.json'), JSON.stringify({ pid: 1, socket: join(folder, 'nothing'), version: 1 }));
  expect((await open('auto')).role).toBe('owner');
});

it('a request in flight when the owner dies is carried to the store that takes over', async () => {
  const owner = await own();
  const store = await open('auto');
  const session = await openSession(store);
  const inFlight = claimMany(store, { waitMs: 60_000 });
  await store.now();
  await kill(owner);
  await eventually(() => store.role === 'owner', { what: 'the request in flight to take the store over' });
  const callId = await acceptOne(store, session);
  expect(await inFlight).toMatchObject([{ callId, fence: 1 }]);
});

it('a client in mode connect carries its requests over the gap between two owners', async () => {
  const owner = await own();
  const store = await open('connect');
  const session = await openSession(store);
  const inFlight = claimMany(store, { waitMs: 60_000 });
  await store.now();
  await kill(owner);
  await eventually(() => store.role === undefined, { what: 'the client to notice the death' });
  const inTheGap = acceptOne(store, session);
  await own();
  expect(await inFlight).toMatchObject([{ callId: await inTheGap, fence: 1 }]);
});

it('a client in mode connect carries what an owner refused when it closed to the next one', async () => {
  const owner = await own();
  const store = await open('connect');
  const session = await openSession(store);
  const inFlight = claimMany(store, { waitMs: 60_000 });
  await store.now();
  owner.send({ kind: 'close' });
  expect(await owner.exited).toMatchObject({ code: 0 });
  await own();
  const callId = await acceptOne(store, session);
  expect(await inFlight).toMatchObject([{ callId, fence: 1 }]);
});

it('a client in mode connect gives a request up when its patience is at its end, and works again with a new owner', async () => {
  const owner = await own();
  const store = await open('connect', { patienceMs: 200 });
  const session = await openSession(store);
  const inFlight = refusalOf(claimMany(store, { waitMs: 60_000 }));
  await store.now();
  await kill(owner);
  expect(await inFlight).toMatchObject({ code: 'STORE_UNAVAILABLE' });
  await expect(store.now()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  await own();
  expect(await store.readSession(session.id)).toBeDefined();
});

it.each(['connect', 'auto'] as const)(
  'a client in mode %s that cannot connect to a stopped owner in time is refused with its pid, and can connect when the owner goes on',
  async (mode) => {
    const owner = await own();
    await stop(owner);
    await expect(open(mode, { answerWithinMs: 200 })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      facts: { problem: `the process that owns it (pid ${owner.pid}) did not answer within 200 ms` },
    });
    owner.kill('SIGCONT');
    expect((await open(mode)).role).toBe('client');
  },
);

it('a client that is closed in the gap refuses what waits for the next owner', async () => {
  const owner = await own();
  const store = await open('connect');
  await store.now();
  await kill(owner);
  await eventually(() => store.role === undefined, { what: 'the client to notice the death' });
  const inTheGap = refusalOf(store.now());
  await store.close();
  expect(await inTheGap).toMatchObject({ code: 'STORE_UNAVAILABLE', facts: { problem: 'it was closed' } });
});

it('when the owner dies, one of many clients takes over and serves the others', async () => {
  const owner = await own();
  const clients = await Promise.all(Array.from({ length: 5 }, () => open('auto')));
  const session = await openSession(clients[0]!);
  await kill(owner);
  await eventually(() => clients.every((client) => client.role === undefined), { what: 'all to notice the death' });
  const callIds = await Promise.all(clients.map((client) => acceptOne(client, session)));
  expect(clients.map((client) => String(client.role)).toSorted()).toEqual([
    'client',
    'client',
    'client',
    'client',
    'owner',
  ]);
  for (const callId of callIds) expect(await clients[0]!.readCall(callId)).toBeDefined();
});

it('when the owner closes, a client takes over', async () => {
  const owner = await own();
  const store = await open('auto');
  owner.send({ kind: 'close' });
  expect(await owner.exited).toMatchObject({ code: 0 });
  await eventually(() => store.role === undefined);
  await store.now();
  expect(store.role).toBe('owner');
});

it('a client that left while it waited is handed no call', async () => {
  const owner = await open('own');
  const session = await openSession(owner);
  const leaving = await open('connect');
  const poll = refusalOf(claimMany(leaving, { waitMs: 60_000 }));
  await leaving.now();
  await leaving.close();
  expect(await poll).toMatchObject({ code: 'STORE_UNAVAILABLE' });
  const callId = await acceptOne(owner, session);
  expect(await claimMany(owner)).toMatchObject([{ callId, fence: 1 }]);
});

it('a client refuses to go on with a store that is not the one it started with', async () => {
  const owner = await own();
  const store = await open('auto');
  const session = await openSession(store);
  await kill(owner);
  top.remove();
  await own();
  await eventually(() => store.role === undefined);
  await expect(store.acceptCall(acceptRequest(session))).rejects.toMatchObject({ code: 'STORE_REPLACED' });
});

it('a request that was with the last owner is not carried into a store that is not the one it was made for', async () => {
  const owner = await own();
  const store = await open('connect');
  const session = await openSession(store);
  // The owner is stopped first, so that the request is still unanswered when the owner dies.
  owner.kill('SIGSTOP');
  const inFlight = refusalOf(store.acceptCall(acceptRequest(session)));
  top.remove();
  await kill(owner);
  await own();
  expect(await inFlight).toMatchObject({ code: 'STORE_REPLACED' });
});
