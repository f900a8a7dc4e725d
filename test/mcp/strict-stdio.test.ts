import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/process.ts';
import { MAIN, startDevPlane, type DevPlane } from './dev-plane.ts';
import { send } from './wire.ts';

const MODULES = fileURLToPath(new URL('../fixtures/owed', import.meta.url));

interface Reply {
  readonly id: unknown;
  readonly result?: { readonly structuredContent?: unknown };
  readonly error?: { readonly code: number; readonly message: string };
}

let plane: DevPlane;
let token: string;
let client: RawClient;
beforeAll(async () => {
  plane = await startDevPlane({}, MODULES);
  token = (await plane.token()).text;
  client = await startClient();
});
afterAll(async () => {
  await client.stop();
  await plane.stop();
});

/** `sallyport mcp` of 2025-11-25, and a client that writes any bytes. */
interface RawClient {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  /** What it said on standard error. */
  errors(): string;
  write(bytes: string | Uint8Array): void;
  /** Writes a ping after the line, and returns what came before the answer to it. */
  exchange(line: string | Uint8Array): Promise<Reply[]>;
  replies(): readonly Reply[];
  stop(): Promise<void>;
}

async function startClient(): Promise<RawClient> {
  const child = spawn(process.execPath, [MAIN, 'mcp', '--agent', 'desktop'], {
    cwd: plane.folder,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const exited = new Promise((resolve) => child.once('close', resolve));
  const replies: Reply[] = [];
  let errors = '';
  let pings = 0;
  createInterface({ input: child.stdout }).on('line', (line) => replies.push(JSON.parse(line) as Reply));
  child.stderr.on('data', (text: Buffer) => (errors += text.toString()));
  const write = (bytes: string | Uint8Array): void => void child.stdin.write(bytes);
  const request = (id: unknown, method: string, params?: object): void =>
    write(`${JSON.stringify({ jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) })}\n`);
  const exchange = async (line: string | Uint8Array): Promise<Reply[]> => {
    const from = replies.length;
    const ping = `ping-${(pings += 1)}`;
    write(line);
    write('\n');
    request(ping, 'ping');
    return eventually(
      () => {
        const end = replies.findIndex(({ id }) => id === ping);
        return end === -1 ? undefined : replies.slice(from, end);
      },
      { what: 'the answer to a ping' },
    );
  };
  const clientInfo = { name: 'raw', version: '1' };
  request('first', 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  await eventually(() => replies.length > 0, { what: 'the answer to initialize' });
  write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  const stop = async (): Promise<void> => {
    child.stdin.end();
    await exited;
  };
  return { child, errors: () => errors, write, exchange, replies: () => replies, stop };
}

const file = (): string => join(plane.folder, 'letters.txt');
const written = (): string => (existsSync(file()) ? readFileSync(file(), 'utf8') : '');
/** A call whose tool writes a line into the file at once. `text` is raw JSON. */
const hold = (id: string, text: string, go = MAIN): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"post__hold","arguments":` +
  `{"file":${JSON.stringify(file())},"go":${JSON.stringify(go)},"text":${text}}}}`;

describe('a line on standard input gets the answer that its bytes get over HTTP, and runs nothing', () => {
  it.each<[string, () => string | Uint8Array, number]>([
    ['a key twice', () => hold('1', '"FIRST","text":"SECOND"'), -32600],
    ['__proto__', () => hold('1', '"x","__proto__":{}'), -32600],
    ['bytes that are not UTF-8', () => Buffer.from(hold('1', '"\xff"'), 'latin1'), -32700],
    ['half of a surrogate pair', () => hold('1', '"\\ud800"'), -32602],
    ['a number that cannot be kept', () => hold('1', '9007199254740993'), -32602],
    ['a batch', () => `[${hold('1', '"x"')}]`, -32600],
    ['broken JSON', () => '{"jsonrpc":"2.0","id":1,', -32700],
    ['a word', () => 'tools/list', -32700],
    ['two documents', () => '{}{}', -32700],
    ['a byte order mark', () => `\uFEFF${hold('1', '"x"')}`, -32700],
    ['a fraction as id', () => hold('1.5', '"x"'), -32600],
    ['the id null', () => hold('null', '"x"'), -32600],
    ['a field that JSON-RPC does not name', () => hold('1', '"x"').replace('"id"', '"extra":1,"id"'), -32600],
    ['another version of JSON-RPC', () => hold('1', '"x"').replace('2.0', '1.0'), -32600],
    ['65 levels', () => `${'['.repeat(65)}${']'.repeat(65)}`, -32700],
  ])('%s', async (_, lineOf, code) => {
    const line = lineOf();
    const http = await send(plane.url, token, { body: line });
    const replies = await client.exchange(line);
    expect(replies).toEqual([{ jsonrpc: '2.0', ...http.body }]);
    expect(replies[0]!.error!.code).toBe(code);
    expect(written()).toBe('');
  });

  it('a progress token that is an object', async () => {
    const call = hold('1', '"x"').replace('"params":{', '"params":{"_meta":{"progressToken":{}},');
    expect(await client.exchange(call)).toMatchObject([{ id: 1, error: { code: -32600 } }]);
    expect(written()).toBe('');
  });

  it('more bytes than there may be, where the gateway answers over HTTP', async () => {
    const line = `"${'x'.repeat(1_200_000)}"`;
    expect((await send(plane.url, token, { body: line })).status).toBe(413);
    expect(await client.exchange(line)).toMatchObject([{ id: null, error: { code: -32000 } }]);
  });

  it('a response with other fields is not answered with its id, which names a request of the server', async () => {
    expect(await client.exchange('{"jsonrpc":"2.0","id":0,"result":{},"extra":1}')).toMatchObject([
      { id: null, error: { code: -32600 } },
    ]);
  });
});

it('a refused line is reported on standard error', async () => {
  await client.exchange('tools/call');
  expect(client.errors()).toContain('a message on standard input was refused');
});

it.each(['', ' \t', '\r'])('a line with nothing but blanks (%j) is no message', async (line) => {
  expect(await client.exchange(line)).toEqual([]);
});

it('a line may end with a carriage return, and arrive in pieces', async () => {
  const line = Buffer.from('{"jsonrpc":"2.0","id":"é","method":"ping"}\r\n');
  const cut = line.indexOf(0xc3) + 1;
  client.write(line.subarray(0, cut));
  await eventually(() => client.child.stdin.writableLength === 0, { what: 'the first piece to be written' });
  expect(await client.exchange(line.subarray(cut))).toEqual([{ jsonrpc: '2.0', id: 'é', result: {} }]);
});

it('the last line is read without a line feed when standard input ends', async () => {
  const leaving = await startClient();
  leaving.child.stdin.write('{"jsonrpc":"2.0","id":"last","method":"ping"}');
  await leaving.stop();
  expect(leaving.replies().at(-1)).toEqual({ jsonrpc: '2.0', id: 'last', result: {} });
});

it('a line without an end is refused before it ends, and the line after it is read', async () => {
  const from = client.replies().length;
  const megabyte = Buffer.alloc(1024 * 1024, 'x');
  const write = (): Promise<void> =>
    new Promise((resolve, reject) =>
      client.child.stdin.write(megabyte, (error) => (error ? reject(error) : resolve())),
    );
  await write();
  await write();
  await eventually(() => client.replies().length > from, { what: 'the refusal of the line' });
  for (let count = 0; count < 64; count += 1) await write();
  expect(await client.exchange('')).toEqual([]);
  expect(client.replies()[from]).toMatchObject({ id: null, error: { code: -32000 } });
});

describe('an id', () => {
  it('names one open request: a second one runs nothing, and does not end the first', async () => {
    const go = join(plane.folder, 'open.go');
    client.write(`${hold('7', '"open"', go)}\n`);
    await eventually(() => written().includes('open '), { what: 'the first call to run' });
    const refused = await client.exchange(hold('7', '"again"'));
    expect(refused).toMatchObject([{ id: null, error: { code: -32600 } }]);
    expect(refused[0]!.error!.message).toContain('a request with it has no answer yet');
    expect(await client.exchange(hold('7', '"broken"').replace('"params":{', '"params":[{'))).toMatchObject([
      { id: null },
    ]);
    writeFileSync(go, '');
    const first = await eventually(() => client.replies().find(({ id }) => id === 7), { what: 'the first answer' });
    expect(first.result?.structuredContent).toEqual({ sent: 'open' });
    expect(written()).not.toContain('again');
  });

  it('is free again after its answer, and after its request was cancelled', async () => {
    expect(await client.exchange('{"jsonrpc":"2.0","id":7,"method":"ping"}')).toMatchObject([{ id: 7, result: {} }]);
    const go = join(plane.folder, 'never.go');
    client.write(`${hold('8', '"given-up"', go)}\n`);
    await eventually(() => written().includes('given-up '), { what: 'the call to run' });
    client.write('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8}}\n');
    expect(await client.exchange('{"jsonrpc":"2.0","id":8,"method":"ping"}')).toMatchObject([{ id: 8, result: {} }]);
    writeFileSync(go, '');
  });
});
