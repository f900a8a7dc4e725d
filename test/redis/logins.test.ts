import { afterAll, describe, expect, it } from 'vitest';
import { startWorker } from '../../src/compose/start-worker.ts';
import { openRedisStore } from '../../src/stores/redis/redis-store.ts';
import { writeManifest } from '../cli/run-cli.ts';
import { startAclServer } from '../deploy/acl-server.ts';
import { eventually, freePort, temporaryFolder } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { startRedis } from '../support/redis-server.ts';
import { startSentinel } from '../support/redis-sentinel.ts';

afterAll(failOnLeaks);

describe('a login that Redis refuses', () => {
  it('is named at once with user and reason, and the password is not', async () => {
    const server = await startRedis({ password: 'right-one' });
    try {
      const url = `redis://127.0.0.1:${server.port}`;
      // Much longer than the test may take: the store must not wait, because a wrong password does not become right.
      const opening = openRedisStore({ url, password: 'wrong-one', patienceMs: 600_000 });
      await expect(opening).rejects.toMatchObject({ code: 'STORE_LOGIN', facts: { user: 'default' } });
      await expect(opening).rejects.toThrow('WRONGPASS');
      await expect(opening).rejects.not.toThrow('wrong-one');
      await expect(openRedisStore({ url, patienceMs: 600_000 })).rejects.toThrow('NOAUTH');
    } finally {
      await server.stop();
    }
  });

  it('is named in the log of a running worker whose password was changed, and the worker goes on when it is changed back', async () => {
    const server = await startAclServer();
    const folder = temporaryFolder('sallyport-login');
    const logged: string[] = [];
    const note = (facts: object, message: string): void =>
      void logged.push(
        `${message} ${'error' in facts && facts.error instanceof Error ? facts.error.message : JSON.stringify(facts)}`,
      );
    const log = { debug: () => undefined, info: () => undefined, warn: note, error: note };
    const login = { url: server.url, username: 'sallyport-worker', password: server.password('worker') };
    try {
      await (await openRedisStore({ url: server.redis.url })).close();
      const worker = await startWorker({
        store: 'redis',
        redis: { ...login, create: false, patienceMs: 500, commandTimeoutMs: 2000 },
        modules: writeManifest(folder.path),
        log,
      });
      const ready = async (): Promise<number> => (await fetch(`${worker.healthUrl}/readyz`)).status;
      expect(await ready()).toBe(200);
      await server.redis.cli('ACL', 'SETUSER', 'sallyport-worker', 'resetpass', '>another-one');
      await server.redis.cli('CLIENT', 'KILL', 'USER', 'sallyport-worker');
      await eventually(
        () => logged.some((line) => line.includes('Redis refused the login as sallyport-worker: WRONGPASS')),
        { what: 'the refused login in the log' },
      );
      expect(logged.join('\n')).not.toContain(login.password);
      await server.redis.cli('ACL', 'SETUSER', 'sallyport-worker', 'resetpass', `>${login.password}`);
      await eventually(async () => (await ready()) === 200, { what: 'the worker to be ready again' });
      await worker.drain();
    } finally {
      folder.remove();
      await server.stop();
    }
  });
});

describe('sentinels that do not lead to a primary', () => {
  it('are distinguished: none answers, the name is unknown, it is no sentinel', async () => {
    const group = await startSentinel();
    const silent = { host: '127.0.0.1', port: await freePort() };
    const open = (sentinels: readonly { host: string; port: number }[], sentinelName: string): Promise<unknown> =>
      openRedisStore({ sentinels, sentinelName, patienceMs: 500 });
    try {
      await expect(open([silent], group.name)).rejects.toThrow(`no sentinel answers at 127.0.0.1:${silent.port}`);
      await expect(open([silent], group.name)).rejects.toMatchObject({ code: 'STORE_SENTINEL' });
      await expect(open([silent, ...group.sentinels], 'other')).rejects.toThrow(
        `knows no primary named other; it knows ${group.name}`,
      );
      const { port } = group.firstPrimary;
      await expect(open([{ host: '127.0.0.1', port }], group.name)).rejects.toThrow(`127.0.0.1:${port} is no sentinel`);
    } finally {
      await group.stop();
    }
  });
});
