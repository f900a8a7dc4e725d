import { existsSync } from 'node:fs';
import { Cluster, Redis } from 'ioredis';
import { afterEach, expect, test } from 'vitest';
import { temporaryFolder } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { startRedis } from '../support/redis-server.ts';
import { makeTlsFiles } from '../support/tls-files.ts';

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
  failOnLeaks();
});

function later<T>(resource: T, cleanup: (resource: T) => unknown): T {
  cleanups.push(() => cleanup(resource));
  return resource;
}

test('a server is ready, has the promised settings and leaves nothing behind', async () => {
  const server = later(await startRedis(), (started) => started.stop());
  const client = later(new Redis(server.url), (opened) => opened.disconnect());
  expect(await client.ping()).toBe('PONG');
  const settings = Object.entries({
    appendonly: 'yes',
    appendfsync: 'everysec',
    'maxmemory-policy': 'noeviction',
    save: '',
    'enable-debug-command': 'yes',
    bind: '127.0.0.1',
  });
  for (const [name, value] of settings) expect(await client.config('GET', name)).toEqual([name, value]);

  await server.stop();
  expect(existsSync(server.directory)).toBe(false);
  expect(() => process.kill(server.pid, 0)).toThrow('ESRCH');
});

test('options reach the server, and an error reply rejects cli', async () => {
  const server = later(
    await startRedis({
      appendfsync: 'always',
      maxmemory: '64mb',
      maxmemoryPolicy: 'allkeys-lru',
      password: 'open sesame',
    }),
    (started) => started.stop(),
  );
  expect(await server.cli('CONFIG', 'GET', 'appendfsync')).toBe('appendfsync\nalways');
  expect(await server.cli('CONFIG', 'GET', 'maxmemory')).toBe('maxmemory\n67108864');
  expect(await server.cli('CONFIG', 'GET', 'maxmemory-policy')).toBe('maxmemory-policy\nallkeys-lru');
  const client = later(new Redis(server.url), (opened) => opened.disconnect());
  expect(await client.ping()).toBe('PONG');
  await expect(server.cli('NOSUCHCOMMAND')).rejects.toThrow(/ERR unknown command/);
});

test('restart after SIGKILL keeps what the append-only file holds, on the same port', async () => {
  const server = later(await startRedis(), (started) => started.stop());
  const firstPid = server.pid;
  await server.cli('SET', 'kept', 'yes');
  await server.kill('SIGKILL');
  await expect(server.cli('PING')).rejects.toThrow(/Connection refused/);
  await server.restart();
  expect(server.pid).not.toBe(firstPid);
  expect(await server.cli('GET', 'kept')).toBe('yes');
});

test('without the append-only file SIGKILL loses the data', async () => {
  const server = later(await startRedis({ appendonly: false }), (started) => started.stop());
  await server.cli('SET', 'kept', 'no');
  await server.kill();
  await server.restart();
  expect(await server.cli('EXISTS', 'kept')).toBe('0');
});

test('a folder of the caller survives stop and feeds the next server', async () => {
  const folder = later(temporaryFolder(), (made) => made.remove());
  const first = later(await startRedis({ directory: folder.path }), (started) => started.stop());
  await first.cli('SET', 'handed', 'over');
  await first.stop();
  const second = later(await startRedis({ directory: folder.path, port: first.port }), (started) => started.stop());
  expect(await second.cli('GET', 'handed')).toBe('over');
});

test('a port in use is reported when the caller chose it', async () => {
  const server = later(await startRedis(), (started) => started.stop());
  await expect(startRedis({ port: server.port })).rejects.toThrow(/Address already in use/);
});

test('a cluster node refuses keys of two slots, serves ioredis Cluster and keeps its slots over a restart', async () => {
  const server = later(await startRedis({ cluster: true }), (started) => started.stop());
  const client = later(new Redis(server.url), (opened) => opened.disconnect());
  await expect(client.mset('a', '1', 'b', '2')).rejects.toThrow(/^CROSSSLOT/);
  expect(await client.mset('{t}a', '1', '{t}b', '2')).toBe('OK');

  const cluster = later(new Cluster([{ host: '127.0.0.1', port: server.port }]), (opened) => opened.disconnect());
  expect(await cluster.get('{t}a')).toBe('1');

  client.disconnect();
  cluster.disconnect();
  await server.kill();
  await server.restart();
  expect(await server.cli('GET', '{t}b')).toBe('2');
});

test('TLS: a client with the CA gets through, one with another CA and one in clear text do not', async () => {
  const tls = later(await makeTlsFiles(), (files) => files.remove());
  const stranger = later(await makeTlsFiles(), (files) => files.remove());
  const server = later(await startRedis({ tls }), (started) => started.stop());
  expect(server.url).toMatch(/^rediss:/);
  expect(await server.cli('PING')).toBe('PONG');

  const client = later(new Redis(server.url, { tls: { ca: tls.ca } }), (opened) => opened.disconnect());
  expect(await client.ping()).toBe('PONG');
  const refused = new Redis(server.url, { tls: { ca: stranger.ca }, lazyConnect: true, retryStrategy: () => null });
  const seen = new Promise<Error>((resolve) => refused.once('error', resolve));
  await expect(refused.connect()).rejects.toThrow('Connection is closed.');
  expect((await seen).message).toMatch(/unable to verify|signature failure|self-signed/);
  const clear = new Redis(server.port, { lazyConnect: true, retryStrategy: () => null });
  clear.on('error', () => {});
  await expect(clear.connect()).rejects.toThrow('Connection is closed.');
});
