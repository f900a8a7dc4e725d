import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SessionHandle } from '../../src/exports/client.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { Outcome } from '../../src/domain/outcome/outcome.ts';
import type { Message } from '../../src/domain/ports/tool-services.ts';
import { startEmbeddingsServer } from '../services/support/embeddings-server.ts';
import { eventually } from '../support/process.ts';
import { BACKENDS, outcomeOf, stagePlane, type PlaneWorker, type StagedPlane } from './support/stage-plane.ts';

const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/services-plane/${name}`, import.meta.url));
const EXAMPLES = fileURLToPath(new URL('../../dist/examples/modules', import.meta.url));

function manifestOf(plane: StagedPlane, ...modules: object[]): string {
  const path = join(plane.folder, `modules-${randomUUID()}.json`);
  writeFileSync(path, JSON.stringify(modules));
  return path;
}

function startDesks(plane: StagedPlane, config: JsonObject = {}): Promise<PlaneWorker> {
  const desks = RUNNERS.map((runner) => ({ id: DESKS[runner], file: fixture('modules/desk.mjs'), runner }));
  return plane.startWorker({
    modules: manifestOf(plane, ...desks),
    services: { ledger: { module: fixture('ledger.mjs'), config } },
    health: { port: 0 },
  });
}

async function callOn(plane: StagedPlane, session: SessionHandle, tool: string, args: JsonObject): Promise<Outcome> {
  return outcomeOf(plane, session, await plane.client.call(session, tool, args));
}

function answerOf<Answer>({ structured, error }: Outcome): Answer {
  if (error !== undefined) throw new Error(error.message);
  return (structured as { answer: Answer }).answer;
}

/** One module, served from both runners by one worker. */
const DESKS = { inline: 'desk', process: 'booth' } as const;
const RUNNERS = ['inline', 'process'] as const;

describe.each(BACKENDS)('services on %s', (backend) => {
  let plane: StagedPlane;
  beforeAll(async () => {
    plane = await stagePlane(backend);
    await startDesks(plane);
  });
  afterAll(async () => {
    await plane.stop();
  });

  describe.each(RUNNERS)('from the %s runner', (runner) => {
    const desk = DESKS[runner];
    const call = (session: SessionHandle, tool: string, args: JsonObject = {}): Promise<Outcome> =>
      callOn(plane, session, `${desk}.${tool}`, args);
    const ask = (session: SessionHandle, service: string, method: string, ...args: JsonObject[]): Promise<Outcome> =>
      call(session, 'ask', { service, method, args });
    const windowOf = async (session: SessionHandle): Promise<string[]> =>
      answerOf<Message[]>(await ask(session, 'conversations', 'window')).map(({ text }) => text);
    /** Opens a session; each test uses its own tenant. */
    const openIn = (tenant: string, more: object = {}): Promise<SessionHandle> =>
      plane.client.openSession({ tenant, subject: 'ann', agent: 'main', channel: 'lobby', ...more });

    it('a tool reaches the services its module declared, and no others', async () => {
      const { structured } = await call(await openIn('t'), 'offered');
      expect(structured).toEqual({
        services: {
          conversations: ['append', 'window', 'search'],
          tasks: ['create', 'update', 'complete', 'list', 'due', 'delete'],
          ledger: ['who', 'refuse', 'burst', 'large', 'sleep', 'absent'],
        },
      });
    });

    it('identity comes from the session, for any arguments', async () => {
      const session = await openIn('acme', { space: 'hall', platform: 'chat' });
      const forged = { tenant: 'evil', subject: 'root', channel: 'vault' };
      expect(answerOf(await ask(session, 'ledger', 'who', forged))).toEqual({
        tenant: 'acme',
        subject: 'ann',
        agent: 'main',
        channel: 'lobby',
        space: 'hall',
        platform: 'chat',
        tool: `${desk}.ask`,
        args: [forged],
      });
    });

    it('a tool of one channel cannot read the conversation of another', async () => {
      const tenant = randomUUID();
      const [lobby, kitchen] = [await openIn(tenant), await openIn(tenant, { channel: 'kitchen' })];
      await ask(lobby, 'conversations', 'append', { role: 'user', text: 'the code is swordfish' });
      await ask(kitchen, 'conversations', 'append', { role: 'user', text: 'soup is ready' });
      expect(await windowOf(kitchen)).toEqual(['soup is ready']);
      const search = { text: 'swordfish', channel: 'lobby', scope: 'lobby' } as const;
      expect(answerOf(await ask(kitchen, 'conversations', 'search', { text: search.text }))).toEqual([]);
      const forged = await ask(kitchen, 'conversations', 'search', search);
      expect(forged).toMatchObject({ kind: 'failed', error: { facts: expect.anything() } });
      expect(await windowOf(await openIn(tenant, { subject: 'bob' }))).toEqual(['the code is swordfish']);
      expect(await windowOf(await openIn(randomUUID()))).toEqual([]);
    });

    it('what a service says on purpose reaches the model; what it throws does not', async () => {
      const session = await openIn(randomUUID());
      const refused = await ask(session, 'ledger', 'refuse');
      expect(refused.kind).toBe('failed');
      expect(JSON.stringify(refused)).toContain('The ledger is closed on Sundays.');
      const burst = await ask(session, 'ledger', 'burst');
      expect(burst.kind).toBe('failed');
      expect(JSON.stringify(burst)).toContain('The service ledger failed');
      expect(JSON.stringify(burst)).not.toContain('hunter2');
      const large = await ask(session, 'ledger', 'large');
      expect(JSON.stringify(large)).toContain('too large');
      expect((await ask(session, 'ledger', 'absent')).kind).toBe('failed');
      expect((await ask(session, 'ledger', 'stop')).kind).not.toBe('ok');
      expect((await call(session, 'offered')).kind).toBe('ok');
    });

    it('a handle that was kept is dead when its call has ended', async () => {
      const session = await openIn(randomUUID());
      await call(session, 'keep');
      expect((await call(session, 'useKept')).structured).toEqual({
        worked: false,
        reason: 'This call has ended.',
      });
      expect(await windowOf(session)).toEqual(['while it lives']);
    });

    it('nothing is written by a tool whose time is up', async () => {
      const session = await openIn(randomUUID());
      expect((await call(session, 'linger')).kind).toBe('timed-out');
      // One more call in the same process or thread: work that the earlier call left behind has run before it.
      await call(session, 'offered');
      expect(await windowOf(session)).toEqual([]);
    });

    it('a service that does not answer ends with the deadline of the call', async () => {
      expect((await call(await openIn('t'), 'sleepInLedger')).kind).toBe('timed-out');
    });
  });
});

describe.each(BACKENDS)('services of a worker of its own on %s', (backend) => {
  let plane: StagedPlane;
  beforeEach(async () => {
    plane = await stagePlane(backend);
  });
  afterEach(async () => {
    await plane.stop();
  });
  const open = (more: object = {}): Promise<SessionHandle> =>
    plane.client.openSession({ subject: 'ann', agent: 'main', channel: 'lobby', ...more });
  const call = (session: SessionHandle, tool: string, args: JsonObject = {}): Promise<Outcome> =>
    callOn(plane, session, tool, args);

  it.each(RUNNERS)('kill -9 in the middle of appends leaves whole messages only (%s)', async (runner) => {
    const worker = await startDesks(plane);
    const session = await open();
    const file = join(plane.folder, 'flood.txt');
    await plane.client.call(session, `${DESKS[runner]}.flood`, { file }, { waitMs: 1 });
    const counted = (): number => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0);
    await eventually(() => counted() >= 20, { what: '20 appends' });
    worker.process.kill('SIGKILL');
    await worker.process.exited;
    await startDesks(plane);
    const conversation = async <Answer>(method: string, args: JsonObject): Promise<Answer> =>
      answerOf(await call(session, 'desk.ask', { service: 'conversations', method, args: [args] }));
    const messages = await conversation<Message[]>('window', { last: 500 });
    expect(messages.length).toBeGreaterThanOrEqual(Math.min(counted(), 500));
    const first = messages[0]!.id;
    for (const [index, { id, text }] of messages.entries()) {
      expect([id, text]).toEqual([first + index, `flood number${first + index - 1} end`]);
    }
    // The messages are also in the search index, in particular the last one.
    for (const { id, text } of [messages[0]!, messages.at(-1)!]) {
      const found = await conversation<Message[]>('search', { text: text.split(' ')[1]! });
      expect(found.map((one) => one.id)).toEqual([id]);
    }
    const next = await conversation<Message>('append', { role: 'user', text: 'next' });
    expect(next.id).toBe(messages.at(-1)!.id + 1);
  });

  it('a module that needs a service that is not configured is not served, and says which', async () => {
    await plane.startWorker({
      modules: manifestOf(plane, { file: fixture('modules/greedy.mjs') }, { file: join(EXAMPLES, 'todo/index.js') }),
    });
    const [worker] = await plane.store.listWorkers();
    expect(worker!.modules.map(({ id }) => id)).toEqual(['todo']);
    expect(worker!.broken).toEqual([
      expect.objectContaining({
        id: 'greedy',
        reason:
          'It needs the service "crystalBall", which is not configured; there are: conversations, knowledge, tasks.',
      }),
    ]);
    expect(JSON.stringify(await plane.client.catalog())).not.toContain('greedy');
  });

  it('the health of services is seen in readiness and in the fleet', async () => {
    const worker = await startDesks(plane, { sick: true });
    const response = await fetch(`${worker.healthUrl}/readyz`);
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({
      reasons: ['the service ledger has failed'],
      services: { conversations: 'ok', ledger: 'failed', tasks: 'ok' },
    });
    const [entry] = await plane.store.listWorkers();
    expect(entry!.services).toContainEqual({ service: 'ledger', state: 'failed', detail: 'it has a cold' });
  });

  it('services are stopped after the last call, the last one started first', async () => {
    const file = join(plane.folder, 'life.txt');
    const worker = await plane.startWorker({
      modules: manifestOf(plane, { file: fixture('modules/desk.mjs') }),
      services: {
        accounts: { module: fixture('chained.mjs'), config: { file } },
        ledger: { module: fixture('ledger.mjs'), config: { file } },
      },
    });
    const session = await open();
    expect((await call(session, 'desk.ask', { service: 'ledger', method: 'who' })).kind).toBe('ok');
    await worker.process.stop();
    expect(readFileSync(file, 'utf8').split('\n').filter(Boolean)).toEqual([
      'started ledger',
      'started accounts',
      'stopped accounts',
      'stopped ledger',
    ]);
  });

  it('a model gives search by meaning, also over restarts of the worker', async () => {
    const server = await startEmbeddingsServer();
    try {
      const models = { config: { baseUrl: server.baseUrl, model: 'topics', key: 'env:TEST_MODEL_KEY' } };
      const start = () =>
        plane.startWorker({
          modules: manifestOf(plane, { file: join(EXAMPLES, 'memory/index.js') }),
          services: { models },
        });
      process.env['TEST_MODEL_KEY'] = 'sk-test-of-plane';
      const worker = await start();
      const session = await open();
      for (const text of ['the kitten sleeps', 'the railway is late']) await call(session, 'memory.note', { text });
      const best = async (query: string): Promise<unknown> => {
        const { structured } = await call(session, 'memory.search', { query, by: 'meaning', limit: 1 });
        return (structured as { messages: { text: string }[] }).messages[0]?.text;
      };
      expect(await best('any cat?')).toBe('the kitten sleeps');
      await worker.process.stop();
      await start();
      expect(await best('a train')).toBe('the railway is late');
      expect(server.asked.map(({ body }) => body.input.length)).toEqual([3, 1]);
      expect(server.asked[0]!.headers.authorization).toBe('Bearer sk-test-of-plane');
    } finally {
      delete process.env['TEST_MODEL_KEY'];
      await server.stop();
    }
  });

  it('the service of the page counts for each subject', async () => {
    const built = (name: string): string => join(EXAMPLES, '../docs/services', name);
    await plane.startWorker({
      modules: manifestOf(plane, { file: built('visits.js') }),
      services: { counters: { module: built('counters.js'), config: { most: 5 } } },
    });
    const [ann, bob] = [await open(), await open({ subject: 'bob' })];
    const count = async (session: SessionHandle): Promise<unknown> =>
      (await call(session, 'visits.count', { page: 'home' })).structured;
    expect([await count(ann), await count(ann), await count(bob)]).toEqual([
      { visits: 1 },
      { visits: 2 },
      { visits: 1 },
    ]);
  });

  it('the example modules remember, recall and keep a to-do list', async () => {
    const modules = manifestOf(
      plane,
      { file: join(EXAMPLES, 'memory/index.js') },
      { file: join(EXAMPLES, 'todo/index.js') },
    );
    await plane.startWorker({ modules });
    const session = await open();
    const ada = { name: 'Ada', type: 'person', text: 'Plays the cello.' };
    const berlin = { name: 'Berlin', type: 'city', relation: 'lives in' };
    expect((await call(session, 'memory.remember', { ...ada, relatedTo: berlin })).structured).toEqual(ada);
    expect((await call(session, 'memory.recall', { query: 'cello' })).structured).toEqual({
      known: [{ ...ada, related: [{ relation: 'lives in', name: 'Berlin' }] }],
    });
    await call(session, 'memory.note', { text: 'the train leaves at nine' });
    expect((await call(session, 'memory.search', { query: 'train' })).structured).toMatchObject({
      messages: [{ id: 1, text: 'the train leaves at nine', by: 'ann' }],
    });
    const added = await call(session, 'todo.add', { title: 'buy tickets', due: '2001-01-01T00:00:00Z' });
    expect(added.structured).toMatchObject({ id: '1', state: 'open' });
    expect((await call(session, 'todo.due')).structured).toMatchObject({ tasks: [{ title: 'buy tickets' }] });
    expect((await call(session, 'todo.done', { id: '1' })).structured).toMatchObject({ state: 'done' });
    expect((await call(session, 'todo.list')).structured).toEqual({ tasks: [] });
    expect((await call(await open({ subject: 'bob' }), 'todo.list', { state: 'all' })).structured).toEqual({
      tasks: [],
    });
  });
});
