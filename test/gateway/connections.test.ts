import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { ConnectionSettings } from '../../src/gateway/http/connections.ts';
import { createHttpServer, listen } from '../../src/gateway/http/http-server.ts';
import { MAX_REQUESTS_AHEAD } from '../../src/base/http/serve-in-turn.ts';
import { serveHealth, type Readiness } from '../../src/worker/health-server.ts';
import { whenSent } from '../../src/gateway/http/when-sent.ts';

interface Begun {
  readonly path: string;
  readonly outgoing: ServerResponse;
}

/** A server in this process whose answers the test gives. A request with `X-Proven: 1` counts as one with a valid token. */
class HeldServer {
  readonly begun: Begun[] = [];
  readonly #server: Server;
  readonly #sockets: Socket[] = [];
  #port = 0;
  #arrived: (() => void) | undefined;

  /** Requests that Node has parsed. */
  parsed = 0;

  constructor(settings: Partial<ConnectionSettings> = {}) {
    const isProven = ({ headers }: IncomingMessage): boolean => headers['x-proven'] === '1';
    this.#server = createHttpServer({ max: 4, writeStallMs: 60_000, isProven, ...settings }, (incoming, outgoing) => {
      this.begun.push({ path: incoming.url!, outgoing });
      this.#arrived?.();
    });
    this.#server.on('request', () => void (this.parsed += 1));
  }

  async start(): Promise<this> {
    this.#port = await listen(this.#server, { host: '127.0.0.1', port: 0 });
    return this;
  }

  /** Connects and sends these bytes. */
  async open(text = '', localAddress = '127.0.0.1'): Promise<Socket> {
    const socket = connect({ port: this.#port, host: '127.0.0.1', localAddress });
    socket.on('error', () => undefined);
    this.#sockets.push(socket);
    await once(socket, 'connect');
    if (text !== '') socket.write(text);
    return socket;
  }

  /** The answer that this request waits for, once the request has arrived. */
  async outgoingOf(path: string): Promise<ServerResponse> {
    for (;;) {
      const found = this.begun.find((each) => each.path === path);
      if (found !== undefined) return found.outgoing;
      await new Promise<void>((resolve) => (this.#arrived = resolve));
    }
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }
}

const get = (path: string, ...headers: string[]): string =>
  [`GET ${path} HTTP/1.1`, 'Host: x', ...headers, '', ''].join('\r\n');
const PROVEN = 'X-Proven: 1';
const isClosed = async (socket: Socket): Promise<true> => {
  socket.resume();
  if (!socket.closed) await once(socket, 'close');
  return true;
};

let server: HeldServer;
afterEach(() => server.stop());

describe('a server whose sockets are all taken', () => {
  it('cuts the oldest socket without a valid token, also while it is answered', async () => {
    server = await new HeldServer().start();
    const caller = await server.open(get('/caller', PROVEN));
    await server.outgoingOf('/caller');
    const strangers: Socket[] = [];
    for (const path of ['/1', '/2', '/3']) {
      strangers.push(await server.open(get(path)));
      await server.outgoingOf(path);
    }
    await server.open(get('/new', PROVEN));
    expect(await isClosed(strangers[0]!)).toBe(true);
    await server.outgoingOf('/new');
    expect([caller, ...strangers.slice(1)].map(({ closed }) => closed)).toEqual([false, false, false]);
  });

  it('cuts no socket that answers a request with a valid token, and refuses the new one', async () => {
    server = await new HeldServer().start();
    const callers: Socket[] = [];
    for (const path of ['/1', '/2', '/3', '/4']) {
      callers.push(await server.open(get(path, PROVEN)));
      await server.outgoingOf(path);
    }
    const late = await server.open(get('/late', PROVEN));
    expect(await isClosed(late)).toBe(true);
    expect(callers.some(({ closed }) => closed)).toBe(false);
    expect(server.begun.map(({ path }) => path)).not.toContain('/late');
  });

  it('cuts a socket of the address that has the most of them', async () => {
    server = await new HeldServer().start();
    const honest = await server.open(get('/honest'));
    await server.outgoingOf('/honest');
    const attacker: Socket[] = [];
    for (const path of ['/1', '/2', '/3']) {
      attacker.push(await server.open(get(path), '127.0.0.2'));
      await server.outgoingOf(path);
    }
    await server.open(get('/new'));
    await server.outgoingOf('/new');
    expect(await isClosed(attacker[0]!)).toBe(true);
    expect(honest.closed).toBe(false);
  });

  it('lets a caller with a valid token that rests make room last', async () => {
    server = await new HeldServer().start();
    const resting = await server.open(get('/resting', PROVEN));
    (await server.outgoingOf('/resting')).end('done');
    await once(resting, 'data');
    for (const path of ['/1', '/2']) {
      await server.open(get(path, PROVEN));
      await server.outgoingOf(path);
    }
    const stranger = await server.open(get('/stranger'));
    await server.outgoingOf('/stranger');
    await server.open(get('/3', PROVEN));
    await server.outgoingOf('/3');
    expect(await isClosed(stranger)).toBe(true);
    expect(resting.closed).toBe(false);
    await server.open(get('/4', PROVEN));
    await server.outgoingOf('/4');
    expect(await isClosed(resting)).toBe(true);
  });
});

describe('requests that are sent ahead on one socket', () => {
  it('begin one after the other, each when the answer before it was sent', async () => {
    server = await new HeldServer().start();
    const socket = await server.open(get('/1') + get('/2') + get('/3'));
    let read = '';
    socket.on('data', (chunk) => (read += chunk.toString('latin1')));
    const began = (): string[] => server.begun.map(({ path }) => path);
    for (const [path, before] of [
      ['/1', ['/1']],
      ['/2', ['/1', '/2']],
      ['/3', ['/1', '/2', '/3']],
    ] as const) {
      const outgoing = await server.outgoingOf(path);
      expect(began()).toEqual(before);
      outgoing.end(`answer to ${path}`);
    }
    while (!read.includes('answer to /3')) await once(socket, 'data');
    expect([...read.matchAll(/answer to (\S+?)(?=HTTP|$)/g)].map(([, path]) => path)).toEqual(['/1', '/2', '/3']);
  });

  it('keep their order with any Expect header, and with bytes that are no request', async () => {
    server = await new HeldServer().start();
    const odd = get('/2', 'Expect: something');
    const [socket, broken] = [await server.open(get('/1') + odd), await server.open(get('/3') + 'no request\r\n\r\n')];
    let read = '';
    socket.on('data', (chunk) => (read += chunk.toString('latin1')));
    // The invalid bytes close this socket. No error is written to it, because the answer to /3 is still under way.
    const chunks: Buffer[] = [];
    broken.on('data', (chunk) => chunks.push(chunk));
    expect(await isClosed(broken)).toBe(true);
    expect(Buffer.concat(chunks).toString('latin1')).toBe('');
    expect(server.begun.map(({ path }) => path)).not.toContain('/2');
    (await server.outgoingOf('/1')).end('first');
    (await server.outgoingOf('/2')).end('second');
    while (!read.includes('second')) await once(socket, 'data');
    expect(read.indexOf('first')).toBeLessThan(read.indexOf('second'));
  });

  it('never begin when their socket closes', async () => {
    server = await new HeldServer().start();
    const socket = await server.open(get('/1') + get('/2'));
    const first = await server.outgoingOf('/1');
    const ended = once(first, 'close');
    socket.destroy();
    await ended;
    // A later request on another socket has begun by then, so a request that could begin would have begun too.
    await server.open(get('/other'));
    await server.outgoingOf('/other');
    expect(server.begun.map(({ path }) => path)).toEqual(['/1', '/other']);
  });

  it('are as many as the limit says; a socket with more is cut', async () => {
    server = await new HeldServer().start();
    const numbers = Array.from({ length: MAX_REQUESTS_AHEAD + 1 }, (_, at) => at);
    const ahead = (name: string): string => numbers.map((at) => get(`/${name}${at}`)).join('');
    const greedy = await server.open(ahead('greedy') + get('/more'));
    expect(await isClosed(greedy)).toBe(true);
    const honest = await server.open(ahead('honest'));
    let read = '';
    honest.on('data', (chunk) => (read += chunk.toString('latin1')));
    for (const at of numbers) (await server.outgoingOf(`/honest${at}`)).end(`<${at}>`);
    while (!read.includes(`<${MAX_REQUESTS_AHEAD}>`)) await once(honest, 'data');
    expect(read.match(/<\d+>/g)).toEqual(numbers.map((at) => `<${at}>`));
  });
});

describe('requests that many sockets have sent ahead', () => {
  it('begin few at a time, so that a request that comes now is not behind them', async () => {
    server = await new HeldServer({ max: 100 }).start();
    const sockets = 40;
    // The first answer on each socket is held back; then all of them end in one step.
    for (let at = 0; at < sockets; at += 1) await server.open(get(`/first${at}`) + get('/ahead'));
    const first = await Promise.all(Array.from({ length: sockets }, (_, at) => server!.outgoingOf(`/first${at}`)));
    const aheadNow = (): number => server!.begun.filter(({ path }) => path === '/ahead').length;
    const closed = first.map((outgoing) => once(outgoing, 'close'));
    for (const outgoing of first) outgoing.end('');
    await Promise.all(closed);
    const steps: number[] = [];
    while (aheadNow() < sockets) {
      const before = aheadNow();
      await new Promise((resolve) => setImmediate(resolve));
      steps.push(aheadNow() - before);
    }
    expect(Math.max(...steps)).toBeLessThanOrEqual(4);
  });
});

describe('a socket that is cut', () => {
  it('costs no more: what was read of it before is not parsed', async () => {
    server = await new HeldServer().start();
    const greedy = await server.open(get('/more').repeat(1000));
    expect(await isClosed(greedy)).toBe(true);
    // The request that is being answered, those that wait, and the one that was too many.
    expect(server.parsed).toBe(1 + MAX_REQUESTS_AHEAD + 1);
  });
});

describe('the health server of a worker', () => {
  it('has the same bound of requests that are sent ahead', async () => {
    let asked = 0;
    const readiness = (): Readiness => {
      asked += 1;
      return { ready: true, reasons: [], facts: {} };
    };
    const health = await serveHealth({ host: '127.0.0.1', port: 0 }, readiness);
    const send = async (requests: number): Promise<string> => {
      const socket = connect(Number(new URL(health.url).port), '127.0.0.1');
      let read = '';
      socket.on('error', () => undefined).on('data', (chunk) => (read += chunk.toString('latin1')));
      socket.write(get('/readyz').repeat(requests) + get('/healthz', 'Connection: close'));
      await once(socket, 'close');
      return read;
    };
    expect((await send(60)).match(/"status":"\w+"/g)).toEqual([
      ...Array.from({ length: 60 }, () => '"status":"ready"'),
      '"status":"alive"',
    ]);
    asked = 0;
    await send(1000);
    expect(asked).toBeLessThanOrEqual(MAX_REQUESTS_AHEAD + 1);
    await health.close();
  });
});

describe('a client that does not read', () => {
  it('is cut while bytes wait for it; a stream without news is not', async () => {
    server = await new HeldServer({ writeStallMs: 200 }).start();
    const quiet = await server.open(get('/quiet'));
    (await server.outgoingOf('/quiet')).writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    await once(quiet, 'data');
    const stalled = await server.open(get('/stalled'));
    stalled.pause();
    const outgoing = await server.outgoingOf('/stalled');
    const sent = new Promise((resolve) => whenSent(outgoing.req, outgoing, resolve));
    outgoing.end(Buffer.alloc(64 * 1024 * 1024));
    expect(await sent).toBe('closed');
    // The quiet stream had nothing to send for longer than the stalled connection, which was closed.
    expect(quiet.closed).toBe(false);
    (await server.outgoingOf('/quiet')).end('data: news\n\n');
    expect(String((await once(quiet, 'data'))[0])).toContain('news');
  });
});
