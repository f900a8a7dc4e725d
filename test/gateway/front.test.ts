import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentView } from '../../src/gateway/api/agents-schema.ts';
import { MATRIX_CELLS, type MatrixPage } from '../../src/gateway/api/explain-schema.ts';
import { MAX_REQUESTS_AHEAD } from '../../src/base/http/serve-in-turn.ts';
import { newTokenText } from '../../src/domain/identity/token-text.ts';
import type { MadeToken } from '../support/create-token.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { startGatewayFixture, type GatewayFixture } from './gateway-fixture.ts';
import { openSocket } from './raw-http.ts';

let gateway: GatewayFixture;
let operator: MadeToken;
let asset: string;
beforeAll(async () => {
  gateway = await startGatewayFixture({ logLevel: 'warn' });
  operator = await gateway.makeToken({ scopes: ['operator'] });
  const page = await (await gateway.request('/console/')).text();
  asset = /src="(\/[^"]+\.js)"/.exec(page)![1]!;
});
afterAll(async () => {
  await gateway.stop();
  failOnLeaks();
});

const host = (): string => `Host: 127.0.0.1:${gateway.port}\r\n`;

/** Opens sockets that each send this number of requests for a file of the console and read nothing. */
async function attack(sockets: number, requests: number): Promise<Socket[]> {
  const text = `GET ${asset} HTTP/1.1\r\n${host()}\r\n`.repeat(requests);
  const opened: Socket[] = [];
  for (let at = 0; at < sockets; at += 1) {
    const socket = await openSocket(gateway.port);
    socket.on('error', () => undefined).pause();
    socket.write(text);
    opened.push(socket);
  }
  return opened;
}

/** Reads until the gateway has closed the socket, and returns the number of answers that began. */
async function readToItsEnd(socket: Socket): Promise<number> {
  let answers = 0;
  socket.on('data', (chunk) => (answers += chunk.toString('latin1').split('HTTP/1.1 ').length - 1));
  socket.resume();
  if (!socket.closed) await once(socket, 'close');
  return answers;
}

describe('a gateway beside sockets that send requests ahead and read nothing', () => {
  it.each([
    { sockets: 260, requests: 160 },
    { sockets: 60, requests: 600 },
  ])(
    'answers callers, and keeps nothing for them: $sockets sockets, $requests requests',
    async ({ sockets, requests }) => {
      const opened = await attack(sockets, requests);
      try {
        for (let asked = 0; asked < 20; asked += 1) {
          expect((await gateway.request('/v1/me', { token: operator })).status).toBe(200);
          // Each request opens a new connection, so that none is reused that was open before.
          const headers = { connection: 'close' };
          expect((await gateway.request('/v1/me', { token: operator, headers })).status).toBe(200);
        }
        expect((await gateway.request('/healthz')).status).toBe(200);
        // Each socket has sent more requests ahead than may wait, so it was closed. One that stayed open would get all its answers now.
        const answers = await Promise.all(opened.map(readToItsEnd));
        expect(Math.max(...answers)).toBeLessThanOrEqual(1 + MAX_REQUESTS_AHEAD);
      } finally {
        for (const socket of opened) socket.destroy();
      }
    },
  );

  it('answers an honest client that sends ahead, in order', async () => {
    const socket = await openSocket(gateway.port);
    const tools = Array.from({ length: 40 }, (_, at) => `some.tool${at}`);
    const requests = tools.map((tool) => {
      const body = JSON.stringify({ subject: 'ada', agent: 'assistant', tool });
      const type = `Content-Type: application/json\r\nContent-Length: ${body.length}`;
      return `POST /v1/explain HTTP/1.1\r\n${host()}Authorization: Bearer ${operator.text}\r\n${type}\r\n\r\n${body}`;
    });
    let read = '';
    socket.on('data', (chunk) => (read += chunk.toString('latin1')));
    socket.write(requests.join(''));
    while (!read.includes('"tool":"some.tool39"')) await once(socket, 'data');
    socket.destroy();
    expect(read.match(/(?<="tool":")some\.tool\d+/g)).toEqual(tools);
    expect(read.match(/HTTP\/1\.1 200 /g)).toHaveLength(40);
  });
});

describe('requests without a credential', () => {
  it('do not use up the budget of wrong ones', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => gateway.request('/v1/me')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
    // A wrong credential is still answered with 401, not with a refusal to try again later.
    const wrong = { authorization: `Bearer ${newTokenText().text}` };
    expect((await gateway.request('/v1/me', { headers: wrong })).status).toBe(401);
  });
});

describe('wrong credentials of one address', () => {
  it('do not lock out a right one that the gateway has not seen before', async () => {
    const tries = Array.from({ length: 80 }, () =>
      gateway.request('/v1/me', { headers: { authorization: `Bearer ${newTokenText().text}` } }),
    );
    expect((await Promise.all(tries)).map(({ status }) => status)).toContain(429);
    const fresh = await gateway.makeToken({ scopes: ['operator'] });
    expect((await gateway.request('/v1/me', { token: fresh })).status).toBe(200);
  });
});

async function declareAgents(count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, at) => `agent${String(at).padStart(4, '0')}`);
  const { version, policy } = await gateway.store.readPolicy();
  const declaration = { selection: [{ module: 'basic', tools: 'all' as const }] };
  const agents = Object.fromEntries(names.map((name) => [name, declaration]));
  await gateway.store.writePolicy({ expectedVersion: version, policy: { ...policy, agents } });
  return names;
}

async function read(query: Readonly<Record<string, string>> = {}): Promise<MatrixPage> {
  const answer = await gateway.request(`/v1/matrix?${new URLSearchParams(query).toString()}`, { token: operator });
  expect(answer.status).toBe(200);
  return (await answer.json()) as MatrixPage;
}

async function readAll(query: Readonly<Record<string, string>> = {}): Promise<MatrixPage[]> {
  const pages = [await read(query)];
  for (let next = pages[0]!.next; next !== undefined; next = pages.at(-1)!.next) {
    pages.push(await read({ ...query, cursor: next }));
  }
  return pages;
}

describe('GET /v1/matrix', () => {
  it('gives every tool once, in pages, with a cell for each agent', async () => {
    const agents = await declareAgents(3);
    const pages = await readAll({ limit: '2' });
    const [{ tools = [] }] = pages as [MatrixPage];
    expect(pages.length).toBe(Math.ceil(tools.length / 2));
    expect(pages.flatMap(({ items }) => items.map(({ tool }) => tool))).toEqual(tools);
    expect(pages.slice(1).every((page) => page.tools === undefined)).toBe(true);
    for (const page of pages) {
      expect(page.agents).toEqual(agents);
      expect(page.items.every(({ cells }) => cells.length === 3)).toBe(true);
    }
    expect(tools.length).toBeGreaterThan(2);
  });

  it('and the list of agents show what is declared for a tenant, to that tenant alone', async () => {
    await declareAgents(1);
    const admin = await gateway.makeToken({ scopes: ['admin'] });
    const json = { selection: [{ module: 'basic', tools: ['echo'] }] };
    const change = async (method: string, name: string): Promise<[number, unknown]> => {
      const path = `/v1/agents/${name}?tenant=acme`;
      const answer = await gateway.request(path, { method, token: admin, ...(method === 'PUT' ? { json } : {}) });
      return [answer.status, await answer.json()];
    };
    for (const name of ['agent0000', 'guest']) {
      expect(await change('PUT', name)).toMatchObject([200, { name, tenant: 'acme', changed: true }]);
      expect(await change('GET', name)).toMatchObject([200, { name, tenant: 'acme', tools: 1, declaration: json }]);
    }
    const listed = (await (await gateway.request('/v1/agents', { token: operator })).json()) as { items: AgentView[] };
    expect(listed).toMatchObject({ selecting: true, selectingTenants: ['acme'] });
    expect(listed.items.map(({ name, tenant }) => [name, tenant])).toEqual([
      ['agent0000', undefined],
      ['agent0000', 'acme'],
      ['guest', 'acme'],
    ]);
    const cellOf = async (tenant: string): Promise<unknown> => {
      const [{ items, agents }] = (await readAll({ tenant, limit: '500' })) as [MatrixPage];
      return [agents, items.find(({ tool }) => tool === 'basic.fails')!.cells[0]!.found];
    };
    expect(await cellOf('acme')).toEqual([['agent0000', 'guest'], 'agent agent0000 of tenant acme did not select it']);
    expect(await cellOf('other')).toMatchObject([['agent0000'], expect.not.stringContaining('tenant')]);
    expect((await gateway.request('/v1/agents/guest', { token: admin })).status).toBe(404);
    for (const name of ['agent0000', 'guest']) expect((await change('DELETE', name))[0]).toBe(200);
    expect((await change('DELETE', 'guest'))[0]).toBe(404);
  });

  it('bounds the cells of a page, however many agents there are', async () => {
    await declareAgents(1000);
    const pages = await readAll({ limit: '500' });
    for (const { items } of pages) expect(items.length * 1000).toBeLessThanOrEqual(MATRIX_CELLS);
    expect(pages.flatMap(({ items }) => items).length).toBe(pages[0]!.tools!.length);
  });

  it('takes a cursor for the list that it was written for only', async () => {
    await declareAgents(3);
    const { next } = await read({ limit: '2', subject: 'ada' });
    const ask = (query: Record<string, string>): Promise<Response> =>
      gateway.request(`/v1/matrix?${new URLSearchParams(query).toString()}`, { token: operator });
    for (const query of [{ cursor: next!, subject: 'bob' }, { cursor: 'x' }, { limit: '0' }, { limit: '501' }]) {
      const answer = await ask(query);
      expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([400, 'PARAMETER_INVALID']);
    }
  });
});
