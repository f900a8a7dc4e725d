import { connect } from 'node:net';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { startChaosProxy, type ChaosProxy } from '../support/chaos-proxy.ts';
import { eventually } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';

let server: RedisServer;
let proxy: ChaosProxy;
const clients: Redis[] = [];

beforeAll(async () => {
  server = await startRedis();
});
afterAll(async () => {
  await server.stop();
  failOnLeaks();
});

beforeEach(async () => {
  await server.cli('FLUSHALL');
  proxy = await startChaosProxy(server);
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.disconnect();
  await proxy.stop();
});

/** Connects a client that does not repeat commands by itself, so that the tests see each loss. */
async function connectThroughProxy(): Promise<Redis> {
  const client = new Redis(proxy.url, {
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => 20,
    lazyConnect: true,
  });
  client.on('error', () => {});
  clients.push(client);
  await client.connect();
  return client;
}

test('drop-reply: the client gets an error although the command took effect, and may go on after a reconnect', async () => {
  const client = await connectThroughProxy();
  await proxy.setMode({ kind: 'drop-reply', request: 'counted' });
  const reconnected = once(client, 'ready');
  await expect(client.incr('counted')).rejects.toThrow('max retries per request');
  expect(await server.cli('GET', 'counted')).toBe('1');
  expect(proxy.counts).toMatchObject({ droppedReplies: 1, droppedReplyBytes: ':1\r\n'.length });

  await reconnected;
  expect(await client.incr('counted')).toBe(2);
  expect(proxy.counts).toMatchObject({ droppedReplies: 1, connections: 2 });
});

test('hold-request keeps the nth matching request and all after it from the server, until the mode changes', async () => {
  const client = await connectThroughProxy();
  await proxy.setMode({ kind: 'hold-request', request: 'counted', nth: 2 });
  expect(await client.incr('counted')).toBe(1);
  const held = [client.incr('counted'), client.incr('another')];
  await eventually(() => proxy.counts.heldRequests === 1);
  expect(await server.cli('MGET', 'counted', 'another')).toBe('1\n');
  await proxy.setMode({ kind: 'pass' });
  expect(await Promise.all(held)).toEqual([2, 1]);
});

test('drop-reply hits the nth matching request and no other', async () => {
  const client = await connectThroughProxy();
  await proxy.setMode({ kind: 'drop-reply', request: 'counted', nth: 3 });
  expect(await client.incr('counted')).toBe(1);
  expect(await client.incr('another')).toBe(1);
  expect(await client.incr('counted')).toBe(2);
  await expect(client.incr('counted')).rejects.toThrow('max retries per request');
  expect(await server.cli('GET', 'counted')).toBe('3');
});

test('drop-reply with a pipeline: every command of it took effect, no reply came back', async () => {
  const client = await connectThroughProxy();
  await proxy.setMode({ kind: 'drop-reply', request: (chunk) => chunk.includes('second') });
  const results = await client.pipeline().incr('first').incr('second').incr('third').exec();
  expect(results?.map(([error]) => error instanceof Error)).toEqual([true, true, true]);
  expect(await server.cli('MGET', 'first', 'second', 'third')).toBe('1\n1\n1');
});

test('drop-reply sees a request whose text is split over two chunks, and lets a large request through whole', async () => {
  const socket = connect(proxy.port, '127.0.0.1').setNoDelay(true);
  await once(socket, 'connect');
  await proxy.setMode({ kind: 'drop-reply', request: 'counted' });
  socket.write('*2\r\n$4\r\nINCR\r\n$7\r\ncou');
  await eventually(async () => /qbuf=[1-9].* cmd=NULL/.test(await server.cli('CLIENT', 'LIST')), {
    what: 'the first half to arrive at the server',
  });
  socket.write('nted\r\n');
  await once(socket.resume(), 'close');
  expect(await server.cli('GET', 'counted')).toBe('1');

  const client = await connectThroughProxy();
  await proxy.setMode({ kind: 'drop-reply', request: 'large' });
  await expect(client.set('large', Buffer.alloc(3_000_000, 120))).rejects.toThrow('max retries per request');
  expect(await server.cli('STRLEN', 'large')).toBe('3000000');
});

test('drop-reply waits for the matching request when the server answers earlier ones first', async () => {
  const client = await connectThroughProxy();
  await proxy.setMode({ kind: 'drop-reply', request: 'counted' });
  await server.kill('SIGSTOP');
  const pipeline = client.pipeline();
  // More than the server reads at once, so that it answers the first ones while the last ones wait.
  for (let index = 0; index < 100; index += 1) pipeline.set(`pad-${index}`, Buffer.alloc(20_000, 120));
  const running = pipeline.incr('counted').exec();
  await eventually(() => proxy.counts.matchedRequests === 1);
  await server.kill('SIGCONT');
  const results = await running;
  expect(results?.every(([error]) => error instanceof Error)).toBe(true);
  expect(await server.cli('GET', 'counted')).toBe('1');
});

test('drop-request: the same error for the client, and no effect', async () => {
  const client = await connectThroughProxy();
  await proxy.setMode({ kind: 'drop-request', request: 'counted' });
  await expect(client.incr('counted')).rejects.toThrow('max retries per request');
  expect(await server.cli('EXISTS', 'counted')).toBe('0');
  expect(proxy.counts).toMatchObject({ droppedRequests: 1, droppedReplies: 0 });
});

test('blackhole holds the bytes back and delivers them when it ends', async () => {
  const client = await connectThroughProxy();
  await proxy.setMode({ kind: 'blackhole' });
  const late = client.set('late', '1');
  expect(await server.cli('EXISTS', 'late')).toBe('0');
  await proxy.setMode({ kind: 'pass' });
  expect(await late).toBe('OK');
  expect(await server.cli('EXISTS', 'late')).toBe('1');
});

test('cut closes open connections and the client comes back', async () => {
  const client = await connectThroughProxy();
  const closed = once(client, 'close');
  await proxy.cut();
  await closed;
  expect(proxy.openConnections).toBe(0);
  await once(client, 'ready');
  expect(proxy.counts.connections).toBe(2);
});

test('refuse turns new connections away, keeps open ones, and ends', async () => {
  const client = await connectThroughProxy();
  await proxy.setMode({ kind: 'refuse' });
  expect(await client.ping()).toBe('PONG');
  const [error] = (await once(connect(proxy.port, '127.0.0.1'), 'error').catch((thrown: unknown) => [thrown])) as [
    Error,
  ];
  expect(error).toMatchObject({ code: 'ECONNREFUSED' });
  await proxy.setMode({ kind: 'pass' });
  const second = await connectThroughProxy();
  expect(await second.ping()).toBe('PONG');
});

test('delay adds its time each way, once for a burst', async () => {
  const client = await connectThroughProxy();
  await proxy.setMode({ kind: 'delay', delayMs: 1000 });
  const startedAt = performance.now();
  await Promise.all([client.ping(), client.ping(), client.ping()]);
  const tookMs = performance.now() - startedAt;
  expect(tookMs).toBeGreaterThanOrEqual(2000);
  // Three pings that are delayed one after the other would take 6000 ms.
  expect(tookMs).toBeLessThan(5000);
});

test('one-byte-chunks changes the chunks and not the bytes', async () => {
  const socket = connect(proxy.port, '127.0.0.1').setNoDelay(true);
  await once(socket, 'connect');
  await proxy.setMode({ kind: 'one-byte-chunks' });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.write('PING hello-there\r\n');
  await eventually(() => Buffer.concat(chunks).toString() === '$11\r\nhello-there\r\n');
  expect(chunks.length).toBeGreaterThan(10);
  socket.destroy();

  const client = await connectThroughProxy();
  const value = 'ü'.repeat(2_000);
  await client.set('text', value);
  expect(await client.get('text')).toBe(value);
});
