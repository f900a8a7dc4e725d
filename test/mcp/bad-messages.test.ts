import { existsSync, rmSync } from 'node:fs';
import { request as rawRequest } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Store } from '../../src/domain/ports/store.ts';
import { eventually } from '../support/process.ts';
import { startDevPlane, type DevPlane } from './dev-plane.ts';
import { request2026, send, V2026, type Answer, type Request2026, type Sent } from './wire.ts';

/** Rows M01 to M36: what is sent, and what comes back. Nothing of it runs a tool. */
let plane: DevPlane;
let token: string;
beforeAll(async () => {
  plane = await startDevPlane({ mcp: { streamsPerBearer: 3 } });
  token = (await plane.token()).text;
});
afterAll(() => plane.stop());

const post = (sent: Sent): Promise<Answer> => send(plane.url, token, sent);
const ask = (request: Request2026): Promise<Answer> => post(request2026(request));
const echo = (text: string): Request2026 => ({
  method: 'tools/call',
  params: { name: 'desk__echo', arguments: { text } },
});

describe('M01 another HTTP method', () => {
  it.each(['GET', 'PUT', 'DELETE', 'HEAD', 'PATCH'])('%s is refused', async (method) => {
    const { status, headers } = await send(plane.url, token, { method, headers: { 'content-type': undefined } });
    expect(status).toBe(405);
    expect(headers.get('allow')).toContain('POST');
  });
});

it('M02 a preflight gets no CORS headers', async () => {
  const headers = { origin: 'http://evil.example', 'access-control-request-method': 'POST' };
  const answer = await post({ method: 'OPTIONS', headers: { ...headers, 'content-type': undefined } });
  expect(answer.status).toBe(403);
  expect(answer.headers.get('access-control-allow-origin')).toBeNull();
});

describe('M03, M04, M34 another kind of body', () => {
  it.each([
    ['text/plain'],
    ['application/x-www-form-urlencoded'],
    ['multipart/form-data; boundary=x'],
    ['application/json; charset=utf-16'],
  ])('%s is refused', async (type) => {
    const sent = request2026(echo('x'));
    expect((await post({ ...sent, headers: { ...sent.headers, 'content-type': type } })).status).toBe(415);
  });
  it('a Content-Encoding is refused', async () => {
    const sent = request2026(echo('x'));
    expect((await post({ ...sent, headers: { ...sent.headers, 'content-encoding': 'gzip' } })).status).toBe(415);
  });
});

it.each(['application/json', 'text/event-stream', 'text/html'])('M05 Accept: %s alone is refused', async (accept) => {
  expect((await ask({ ...echo('x'), headers: { accept } })).status).toBe(406);
});

it.each(['http://evil.example', 'null', 'http://localhost.evil.example', 'http://127.0.0.1:1'])(
  'M06 the origin %s is refused',
  async (origin) => {
    expect((await ask({ ...echo('x'), headers: { origin } })).status).toBe(403);
  },
);

it.each(['evil.example', '127.0.0.1.evil', 'localhost:9'])('M07 the host %s is refused', async (host) => {
  const { hostname, port, pathname } = new URL(plane.url);
  const { headers, body } = request2026(echo('x'));
  const status = await new Promise((resolve, reject) => {
    const all = { ...headers, host, authorization: `Bearer ${token}` };
    const sent = rawRequest({ hostname, port, path: pathname, method: 'POST', headers: all }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on('error', reject);
    sent.end(body);
  });
  expect(status).toBe(421);
});

describe('M08, M09 without a right token', () => {
  it.each([undefined, '', 'Bearer', 'Bearer x', `Bearer spt_aaaaaaaaaaaaaaaa_${'a'.repeat(43)}`])(
    'Authorization: %s is refused',
    async (authorization) => {
      const answer = await ask({ ...echo('x'), headers: { authorization } });
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
    },
  );
  it('a revoked token is refused', async () => {
    const gone = await plane.token();
    await plane.store.revokeToken({ id: gone.id });
    expect((await send(plane.url, gone.text, request2026(echo('x')))).status).toBe(401);
  });
});

describe('M10, M11, M12 headers that do not repeat the body', () => {
  it.each<[string, Record<string, string | undefined>, number]>([
    ['no MCP-Protocol-Version', { 'mcp-protocol-version': undefined }, -32020],
    ['another MCP-Protocol-Version', { 'mcp-protocol-version': '2025-11-25' }, -32020],
    ['no Mcp-Method', { 'mcp-method': undefined }, -32020],
    ['another Mcp-Method', { 'mcp-method': 'tools/list' }, -32020],
    ['no Mcp-Name', { 'mcp-name': undefined }, -32020],
    ['another Mcp-Name', { 'mcp-name': 'desk__send' }, -32020],
    ['another Mcp-Name in base64', { 'mcp-name': '=?base64?ZGVza19fc2VuZA==?=' }, -32020],
    ['a broken Mcp-Name', { 'mcp-name': '=?base64?%%?=' }, -32020],
  ])('%s', async (_, headers, code) => {
    const answer = await ask({ ...echo('x'), headers });
    expect([answer.status, answer.body.error?.code]).toEqual([400, code]);
  });
  it('an unknown version', async () => {
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2099-01-01' };
    const answer = await ask({ ...echo('x'), meta, headers: { 'mcp-protocol-version': '2099-01-01' } });
    expect([answer.status, answer.body.error?.code]).toEqual([400, -32022]);
  });
});

describe('M14, M15, M16, M18, M19 what is no JSON-RPC request', () => {
  it.each<[string, string, number]>([
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]', -32600],
    ['another version of JSON-RPC', '{"jsonrpc":"1.0","id":1,"method":"tools/list"}', -32600],
    ['no version of JSON-RPC', '{"id":1,"method":"tools/list"}', -32600],
    ['the id null', '{"jsonrpc":"2.0","id":null,"method":"tools/list"}', -32600],
    ['an object as id', '{"jsonrpc":"2.0","id":{},"method":"tools/list"}', -32600],
    ['a fraction as id', '{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}', -32600],
    ['an id that no number holds', '{"jsonrpc":"2.0","id":1152921504606846977,"method":"tools/list"}', -32602],
    ['a long id', `{"jsonrpc":"2.0","id":"${'x'.repeat(10_240)}","method":"tools/list"}`, -32600],
    ['Method', '{"jsonrpc":"2.0","id":1,"Method":"tools/list"}', -32600],
    ['METHOD beside method', '{"jsonrpc":"2.0","id":1,"method":"tools/list","METHOD":"x"}', -32600],
    ['a NUL in a key', '{"jsonrpc":"2.0","id":1,"method\\u0000":"tools/list"}', -32600],
    ['a key twice', '{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call"}', -32600],
    ['__proto__', '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"__proto__":{}}}', -32600],
    ['a list as params', '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}', -32600],
    ['no JSON', '{', -32700],
    ['nothing', ' ', -32700],
    ['two documents', '{}{}', -32700],
    ['a byte order mark', '\uFEFF{}', -32700],
    ['a text', '"x"', -32600],
    ['null', 'null', -32600],
  ])('%s', async (_, body, code) => {
    const answer = await post({ body });
    expect([answer.status, answer.body.error?.code]).toEqual([400, code]);
  });
  it('a response without a request', async () => {
    const answer = await post({ body: '{"jsonrpc":"2.0","id":1,"result":{}}' });
    expect([answer.status, answer.body.error?.code]).toEqual([400, -32000]);
  });
  it('depth of 65, before anything is built', async () => {
    expect((await post({ body: `${'['.repeat(65)}${']'.repeat(65)}` })).status).toBe(400);
  });
  it('more bytes than there may be', async () => {
    expect((await post({ body: `"${'x'.repeat(1_200_000)}"` })).status).toBe(413);
  });
  it('tools/call without an id runs nothing', async () => {
    const file = `${plane.folder}/never.txt`;
    const params = { name: 'desk__send', arguments: { file, text: 'x' } };
    const { body, headers } = request2026({ method: 'tools/call', params });
    const { id: _, ...notification } = JSON.parse(String(body)) as { id: number };
    const answer = await post({ headers: headers!, body: JSON.stringify(notification) });
    expect(answer.status).toBe(202);
    // A later call has run, so the notification would have run by now too.
    await ask(echo('later'));
    expect(existsSync(file)).toBe(false);
  });
});

describe('M20 an unknown method', () => {
  it.each(['nope', 'rpc.x', 'ping', 'logging/setLevel'])('%s', async (method) => {
    const answer = await ask({ method });
    expect([answer.status, answer.body.error?.code]).toEqual([404, -32601]);
  });
  it('initialize with a header of 2026', async () => {
    const answer = await post({
      headers: { 'mcp-protocol-version': V2026 },
      body: '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}',
    });
    expect([answer.status, answer.body.error?.code]).toEqual([400, -32020]);
  });
});

it.each(['nope', '../x', 'a'.repeat(129), 'other__tool', 'desk.echo'])('M21 the tool %s', async (name) => {
  const answer = await ask({ method: 'tools/call', params: { name, arguments: {} } });
  expect(answer.body.error?.code).toBe(-32602);
});

describe('M22, M23 arguments', () => {
  it.each([[[]], ['x'], [null], [1]])('%j are no object', async (args) => {
    const answer = await ask({ method: 'tools/call', params: { name: 'desk__echo', arguments: args } });
    expect(answer.body.error?.code).toBe(-32602);
  });
  it.each([[{}], [{ text: 1 }]])('%j do not fit the schema', async (args) => {
    const answer = await ask({ method: 'tools/call', params: { name: 'desk__echo', arguments: args } });
    expect(answer.body.result?.['isError']).toBe(true);
    expect(JSON.stringify(answer.body.result)).toContain('ARGUMENTS_INVALID');
  });
});

it('M25 a trace that is none is ignored', async () => {
  const answer = await ask({ ...echo('traced'), meta: { traceparent: 'junk', tracestate: 'x'.repeat(1000) } });
  expect(answer.body.result?.['structuredContent']).toEqual({ text: 'traced' });
});

describe('M26 an idempotency key', () => {
  const keyed = (key: unknown, text: string): Promise<Answer> =>
    ask({ ...echo(text), meta: { 'sallyport/idempotencyKey': key } });

  it.each([1, '', 'x'.repeat(256), 'a\u0007b'])('%j is none', async (key) => {
    expect((await keyed(key, 'x')).body.error?.code).toBe(-32602);
  });
  it('means one call, and is refused for another', async () => {
    const [first, again, other] = [await keyed('k1', 'one'), await keyed('k1', 'one'), await keyed('k1', 'two')];
    const idOf = ({ body }: Answer): unknown => (body.result!['_meta'] as Record<string, unknown>)['sallyport/callId'];
    expect(idOf(again)).toBe(idOf(first));
    expect(other.body.result?.['isError']).toBe(true);
    expect(JSON.stringify(other.body.result)).toContain('KEY_CONFLICT');
  });
});

it('M35 a progress token that is an object', async () => {
  const answer = await ask({ ...echo('x'), meta: { progressToken: {} } });
  expect([answer.status, answer.body.error?.code]).toEqual([400, -32600]);
});

it('M35 more streams than a bearer may have', async () => {
  const listen = request2026({ method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true } } });
  const stop = new AbortController();
  const headers = { authorization: `Bearer ${token}`, accept: 'application/json, text/event-stream' };
  const open = (): Promise<Response> =>
    fetch(plane.url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', ...(listen.headers as Record<string, string>) },
      body: String(listen.body),
      signal: stop.signal,
    });
  const streams = [await open(), await open(), await open()];
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect((await open()).status).toBe(429);
  stop.abort();
});

it('M33 requests on one connection are answered in order', async () => {
  const { hostname, port, host } = new URL(plane.url);
  const count = 20;
  const texts = Array.from({ length: count }, (_, at) => {
    const { headers, body } = request2026({ ...echo(`piped-${at}`), id: at });
    const all = { ...headers, host, authorization: `Bearer ${token}`, accept: 'application/json, text/event-stream' };
    const lines = Object.entries({
      ...all,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(String(body)),
    });
    return `POST /mcp HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}`).join('\r\n')}\r\n\r\n${String(body)}`;
  });
  const socket = connect(Number(port), hostname);
  let received = '';
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      received += String(chunk);
      if ((received.match(/"structuredContent":\{"text":"piped-\d+"\}/g) ?? []).length === count) resolve();
    });
    socket.on('connect', () => socket.write(texts.join('')));
  });
  socket.destroy();
  const order = [...received.matchAll(/"structuredContent":\{"text":"piped-(\d+)"\}/g)].map(([, at]) => Number(at));
  expect(order).toEqual(Array.from({ length: count }, (_, at) => at));
});

describe('M36 a session of 2025', () => {
  /** Counts in a copy that the owner of the store makes, because no other process may open its file. */
  async function countRuns(): Promise<number> {
    const copy = join(plane.folder, 'runs.sqlite');
    await (plane.store as Store & { copyTo(file: string): Promise<void> }).copyTo(copy);
    const database = new DatabaseSync(copy);
    const { runs } = database.prepare('SELECT count(*) AS runs FROM run').get() as { runs: number };
    database.close();
    rmSync(copy);
    return runs;
  }
  const initialize = (bearer: string, protocolVersion = '2025-11-25'): Promise<Answer> =>
    send(plane.url, bearer, {
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 0,
        method: 'initialize',
        params: { protocolVersion, capabilities: {}, clientInfo: { name: 'old', version: '1' } },
      }),
    });
  const list = (bearer: string, session: string, protocolVersion = '2025-11-25'): Promise<Answer> =>
    send(plane.url, bearer, {
      headers: { 'mcp-session-id': session, 'mcp-protocol-version': protocolVersion },
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    });

  it('works for its bearer, and does not exist for other tokens', async () => {
    const begun = await initialize(token);
    const session = begun.headers.get('mcp-session-id')!;
    expect((await list(token, session)).status).toBe(200);
    const stranger = (await plane.token()).text;
    const [foreign, unknown] = [await list(stranger, session), await list(token, 'nobody')];
    expect([foreign.status, foreign.body]).toEqual([404, unknown.body]);
    expect(unknown.status).toBe(404);
  });
  it('takes its run along when it is ended', async () => {
    // The token's first request also opens its session with a first run. It is made before counting, so that only the new run counts.
    await initialize(token).then((begun) => list(token, begun.headers.get('mcp-session-id')!));
    const before = await countRuns();
    const session = (await initialize(token)).headers.get('mcp-session-id')!;
    await list(token, session);
    expect(await countRuns()).toBe(before + 1);
    const ended = { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' };
    expect((await send(plane.url, token, { method: 'DELETE', headers: ended })).status).toBe(200);
    await eventually(async () => (await countRuns()) === before, { what: 'the run to end' });
  });
  it('means nothing to a request of 2026', async () => {
    const answer = await ask({ ...echo('x'), headers: { 'mcp-session-id': 'nobody', 'last-event-id': '7' } });
    expect(answer.body.result?.['structuredContent']).toEqual({ text: 'x' });
  });
  it.each([
    ['2025-06-18', '2025-06-18'],
    ['2025-03-26', '2025-03-26'],
    ['2024-11-05', '2024-11-05'],
    ['2024-10-07', '2024-10-07'],
    ['2020-01-01', '2025-11-25'],
  ])('is served as 2025-11-25 to a client of an older revision: %s', async (asked, answered) => {
    const begun = await initialize(token, asked);
    expect(begun.body.result?.['protocolVersion']).toBe(answered);
    const listed = await list(token, begun.headers.get('mcp-session-id')!, answered);
    const now = await initialize(token);
    expect(listed.body.result).toEqual((await list(token, now.headers.get('mcp-session-id')!)).body.result);
  });
  it('begins with initialize', async () => {
    const answer = await post({ body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' });
    expect([answer.status, answer.body.error?.code]).toEqual([400, -32000]);
  });
});

describe('M37 subscriptions without bound', () => {
  it('are refused with a code: URIs that are too long, and too many of them', async () => {
    const initialize = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'wire', version: '1' } },
    };
    const opened = await post({ body: JSON.stringify(initialize) });
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id')!, 'mcp-protocol-version': '2025-11-25' };
    let id = 1;
    const subscribe = (uri: string): Promise<Answer> => {
      const message = { jsonrpc: '2.0', id: (id += 1), method: 'resources/subscribe', params: { uri } };
      return post({ headers: session, body: JSON.stringify(message) });
    };
    const refused = { code: -32602, data: { code: 'SUBSCRIPTION_REFUSED' } };
    expect((await subscribe('desk://first')).body.result).toEqual({});
    expect((await subscribe(`desk://${'x'.repeat(900_000)}`)).body.error).toMatchObject(refused);
    // In groups: on a busy machine the gateway refuses some of 255 requests at once, and then the list is not full.
    for (let group = 0; group < 17; group += 1) {
      const answers = await Promise.all(Array.from({ length: 15 }, (_, at) => subscribe(`desk://${group * 15 + at}`)));
      expect(answers.map(({ body }) => body.result)).toEqual(Array.from({ length: 15 }, () => ({})));
    }
    expect((await subscribe('desk://more')).body.error).toMatchObject(refused);
    const listen = await ask({
      method: 'subscriptions/listen',
      params: { notifications: { resourceSubscriptions: [`desk://${'x'.repeat(9000)}`] } },
    });
    expect([listen.status, listen.body.error]).toEqual([400, expect.objectContaining(refused)]);
    await send(plane.url, token, { method: 'DELETE', headers: { ...session, 'content-type': undefined } });
  });
});
