import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isAboutCall } from '../../src/domain/audit/audit-record.ts';
import { connect, type CallEvent, type Client, type Outcome, type SessionHandle } from '../../src/exports/client.ts';
import { openStore } from '../../src/operate/open-store.ts';
import type { Store } from '../../src/domain/ports/store.ts';
import type { EmbeddedStoreOptions } from '../../src/stores/embedded/embedded-store.ts';
import { callIdFor } from '../../src/domain/identity/new-id.ts';
import { eventually, spawnNode, temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import type { WatchedProcess } from '../support/watched-process.ts';
import { BASIC_MODULES, LEASE_MS } from './support/stage-plane.ts';

const OWNER_SCRIPT = fileURLToPath(new URL('support/owner-process.mjs', import.meta.url));
const CALLS = 200;

let folder: TemporaryFolder;
let owners: WatchedProcess[];
let clients: Client[];
let stores: Store[];
beforeEach(() => {
  folder = temporaryFolder('sallyport-owner');
  owners = [];
  clients = [];
  stores = [];
});
afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await Promise.all(stores.map((store) => store.close()));
  await Promise.all(owners.map((owner) => owner.stop()));
  folder.remove();
});

const storeFolder = (): string => join(folder.path, 'store');
const effectFile = (): string => join(folder.path, 'effects.txt');

async function spawnOwner(more: { mode?: EmbeddedStoreOptions['mode'] } = {}): Promise<WatchedProcess> {
  const options = { folder: storeFolder(), modules: BASIC_MODULES, leaseMs: LEASE_MS, concurrency: 16, ...more };
  // A killed owner leaves its socket behind; here it goes with the test's folder.
  const env = { OWNER: JSON.stringify(options), XDG_RUNTIME_DIR: folder.path };
  const owner = await spawnNode(OWNER_SCRIPT, [], { env });
  owners.push(owner);
  return owner;
}

async function startOwner(more: { mode?: EmbeddedStoreOptions['mode'] } = {}): Promise<WatchedProcess> {
  const owner = await spawnOwner(more);
  await owner.waitForLine(/^ready /);
  return owner;
}

async function connectClient(mode: NonNullable<EmbeddedStoreOptions['mode']>): Promise<Client> {
  const client = await connect({ store: 'embedded', folder: storeFolder(), mode });
  clients.push(client);
  return client;
}

async function look(): Promise<Store> {
  const store = await openStore({ store: 'embedded', folder: storeFolder(), mode: 'connect' });
  stores.push(store);
  return store;
}

/** Lines of the effect file as [mark, key of the call]. */
function marks(): (readonly [mark: string, key: string])[] {
  try {
    const lines = readFileSync(effectFile(), 'utf8').split('\n').filter(Boolean);
    return lines.map((line) => line.split(' ') as [string, string, string, string]).map(([mark, key]) => [mark, key]);
  } catch {
    return [];
  }
}

const countOf = (mark: string, key: string): number =>
  marks().filter(([letter, name]) => letter === mark && name === key).length;

function untilStarts(count: number): Promise<unknown> {
  return eventually(() => marks().filter(([mark]) => mark === 'S').length >= count, { what: `${count} starts` });
}

interface Asked {
  readonly key: string;
  readonly effect: 'read' | 'unsafe';
  /** The first run of the call never ends by itself, so it is running when the owner of the store is killed. */
  readonly held: boolean;
}

const HELD = 8;
const ASKED: readonly Asked[] = Array.from({ length: CALLS }, (_, index) => ({
  key: `call-${index}`,
  effect: index % 2 === 0 ? 'unsafe' : 'read',
  held: index < HELD,
}));

function ask(
  client: Client,
  session: SessionHandle,
  { key, effect, held }: Asked,
  onQueued?: () => void,
): Promise<Outcome> {
  const file = effectFile();
  const [tool, args] = held
    ? [
        effect === 'read' ? 'scenario.read' : 'scenario.write',
        { file, label: key, until: `${file}.never`, firstOnly: true },
      ]
    : [effect === 'read' ? 'basic.slowRead' : 'basic.slowWrite', { file, line: key, ms: 40 }];
  const onEvent = ({ kind }: CallEvent): void => void (kind === 'queued' && onQueued?.());
  const options = { key, waitMs: 50_000, deadlineMs: 120_000, ...(onQueued === undefined ? {} : { onEvent }) };
  const calling = client.call(session, tool, args, options).then((answer) => {
    if (answer.kind === 'pending') throw new Error(`${key} is still pending`);
    return answer.outcome;
  });
  // If the test fails before it awaits the outcome, a rejection must not be reported in addition.
  calling.catch(() => undefined);
  return calling;
}

/** Expects one outcome for each call, which agrees with what the tools did: nothing is lost and nothing ran twice. */
async function expectOneEndingEach(session: SessionHandle, outcomes: readonly Outcome[]): Promise<void> {
  const wrong = ASKED.flatMap(({ key, effect, held }, index) => {
    const { kind } = outcomes[index]!;
    const [starts, ends] = [countOf('S', key), countOf('E', key)];
    const readsWell = kind === 'ok' && ends >= 1 && starts >= ends && starts <= 2;
    const endsOnce = kind === 'ok' && starts === 1 && ends === 1 && !held;
    const mayHaveRun = kind === 'indeterminate' && starts <= 1;
    const right = effect === 'read' ? readsWell : endsOnce || mayHaveRun;
    return right ? [] : [{ key, kind, starts, ends }];
  });
  expect(wrong).toStrictEqual([]);

  const store = await look();
  expect(await store.listCalls({ limit: 10 })).toStrictEqual([]);
  const audit = await store.readAudit({ lane: 0, fromSequence: 1, limit: 10_000 });
  expect(
    audit
      .filter(isAboutCall)
      .map((entry) => entry.callId)
      .sort(),
  ).toStrictEqual(ASKED.map(({ key }) => callIdFor(session.id, key)!).sort());
}

async function killInTheMiddle(owner: WatchedProcess): Promise<void> {
  await eventually(
    () => marks().length >= 60 && ASKED.filter(({ held }) => held).every(({ key }) => countOf('S', key) === 1),
    { what: 'held runs, and some that have ended' },
  );
  owner.kill('SIGKILL');
  await owner.exited;
}

describe(`an embedded owner killed in the middle of ${CALLS} calls`, () => {
  it('and replaced on the same folder: every accepted call gets its one answer over the new socket', async () => {
    const owner = await startOwner();
    const client = await connectClient('connect');
    const session = await client.openSession({ subject: 'alice', agent: 'main' });
    let [queued, settled] = [0, 0];
    const asking = ASKED.map((asked) => ask(client, session, asked, () => (queued += 1)));
    for (const each of asking) void each.then(() => (settled += 1));
    await eventually(() => queued === CALLS, { what: 'all calls to be accepted' });
    await killInTheMiddle(owner);
    const left = CALLS - settled;
    await startOwner();
    const outcomes = await Promise.all(asking);
    await expectOneEndingEach(session, outcomes);
    const indeterminate = outcomes.filter(({ kind }) => kind === 'indeterminate').length;
    console.log(`${left} calls were open when the owner was killed; ${indeterminate} ended indeterminate`);
    expect(left).toBeGreaterThan(HELD);
  });

  it('whose client may own: it takes the file over, says so to others, and gets every answer from a new worker', async () => {
    const owner = await startOwner();
    const client = await connectClient('auto');
    const session = await client.openSession({ subject: 'alice', agent: 'main' });
    const asking = ASKED.map((asked) => ask(client, session, asked));
    await killInTheMiddle(owner);
    await eventually(() => client.catalog(), { what: 'the client to take over' });
    await expect(openStore({ store: 'embedded', folder: storeFolder(), mode: 'own' })).rejects.toMatchObject({
      code: 'STORE_OWNED',
      facts: { pid: process.pid },
    });
    await startOwner({ mode: 'auto' });
    const outcomes = await Promise.all(asking);
    await expectOneEndingEach(session, outcomes);
  });
});

interface Asking {
  /** By key of the call. */
  readonly outcomes: Map<string, Outcome>;
  /** Stops the callers, each when its current call has ended. */
  stop(): Promise<unknown>;
}

const CALLERS = 16;

/** Callers that know nothing of owners: one call of an unsafe tool after the other, each once and under a key of its own. */
function goOnCalling(client: Client, session: SessionHandle, name: string): Asking {
  const outcomes = new Map<string, Outcome>();
  let stopping = false;
  const caller = async (index: number): Promise<void> => {
    for (let turn = 0; !stopping; turn += 1) {
      const key = `${name}-${index}-${turn}`;
      outcomes.set(key, await ask(client, session, { key, effect: 'unsafe', held: false }));
    }
  };
  const finished = Promise.all(Array.from({ length: CALLERS }, (_, index) => caller(index)));
  finished.catch(() => undefined);
  return {
    outcomes,
    stop: () => {
      stopping = true;
      return finished;
    },
  };
}

describe('an embedded owner killed and replaced', () => {
  it('while callers go on calling: the client itself carries each call over the gap', async () => {
    const owner = await startOwner();
    const client = await connectClient('connect');
    const session = await client.openSession({ subject: 'alice', agent: 'main' });
    const early = goOnCalling(client, session, 'early');
    await eventually(() => early.outcomes.size >= 60, { what: 'calls before the kill' });
    owner.kill('SIGKILL');
    await owner.exited;
    const late = goOnCalling(client, session, 'in-the-gap');
    await startOwner();
    await eventually(() => late.outcomes.size >= 60, { what: 'calls after it' });
    await Promise.all([early.stop(), late.stop()]);
    const outcomes = new Map([...early.outcomes, ...late.outcomes]);

    const wrong = [...outcomes].flatMap(([key, { kind }]) => {
      const [starts, ends] = [countOf('S', key), countOf('E', key)];
      const right = kind === 'ok' ? starts === 1 && ends === 1 : kind === 'indeterminate' && starts <= 1;
      return right ? [] : [{ key, kind, starts, ends }];
    });
    expect(wrong).toStrictEqual([]);
    const store = await look();
    expect(await store.listCalls({ limit: 10 })).toStrictEqual([]);
    const audit = await store.readAudit({ lane: 0, fromSequence: 1, limit: 10_000 });
    expect(audit.map(({ sequence }) => sequence)).toStrictEqual(audit.map((_, index) => index + 1));
    expect(
      audit
        .filter(isAboutCall)
        .map((entry) => entry.callId)
        .sort(),
    ).toStrictEqual([...outcomes.keys()].map((key) => callIdFor(session.id, key)!).sort());
  });
});

describe('a second opener', () => {
  it('is refused with the pid of the owner, in this process and in another', async () => {
    const owner = await startOwner();
    await expect(openStore({ store: 'embedded', folder: storeFolder(), mode: 'own' })).rejects.toMatchObject({
      code: 'STORE_OWNED',
      facts: { pid: owner.pid },
    });
    const second = await spawnOwner();
    expect(await second.waitForLine(/^refused /)).toContain(`STORE_OWNED`);
    expect(second.stdout).toContain(`"pid":${owner.pid}`);
    expect((await second.exited).code).toBe(69);
    const client = await connectClient('connect');
    expect((await client.catalog()).modules.length).toBeGreaterThan(0);
  });
});

describe('an owner whose main thread is blocked by an inline tool', () => {
  it('accepts calls of another process meanwhile, and answers them afterwards', async () => {
    await startOwner();
    const client = await connectClient('connect');
    const session = await client.openSession({ subject: 'alice', agent: 'main' });
    const order: string[] = [];
    const busyArguments = { file: effectFile(), label: 'busy', ms: 3000 };
    const busy = client
      .call(session, 'scenario.busy', busyArguments, { waitMs: 60_000 })
      .then(() => order.push('busy answered'));
    await untilStarts(1);
    const accepted: Promise<unknown>[] = [];
    const echoes = Array.from({ length: 20 }, (_, index) => {
      let tell!: () => void;
      accepted.push(new Promise<void>((resolve) => (tell = resolve)));
      const onEvent = ({ kind }: CallEvent): void => void (kind === 'queued' && tell());
      return client.call(session, 'basic.echo', { text: `${index}` }, { waitMs: 60_000, onEvent });
    });
    await Promise.all(accepted);
    order.push('accepted');
    await busy;
    expect(order).toStrictEqual(['accepted', 'busy answered']);
    expect(await Promise.all(echoes)).toMatchObject(echoes.map(() => ({ kind: 'settled', outcome: { kind: 'ok' } })));
  });
});
