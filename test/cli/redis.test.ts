import { chmodSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/process.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { makeTlsFiles } from '../support/tls-files.ts';
import type { WatchedProcess } from '../support/watched-process.ts';
import { planeFolder, type PlaneFolder } from './plane-folder.ts';
import { jsonOf, MAIN } from './run-cli.ts';

let redis: RedisServer;
let plane: PlaneFolder;
const QUICK = { SALLYPORT_WORKER_LEASE_MS: '1500' };

beforeAll(async () => {
  redis = await startRedis();
  plane = planeFolder([], { SALLYPORT_STORE: 'redis', SALLYPORT_REDIS_URL: redis.url });
  // No policy has been written; until one is, everything is closed.
  writeFileSync(plane.file('open.json'), '{"permissions":{"*":{"allow":["*"]}}}');
});
afterAll(async () => {
  plane.remove();
  await redis.stop();
  failOnLeaks();
});

async function withWorker<Result>(use: (worker: WatchedProcess) => Promise<Result>): Promise<Result> {
  const worker = await plane.start('worker', [], QUICK);
  try {
    return await use(worker);
  } finally {
    await worker.stop();
  }
}

describe('sallyport on Redis', () => {
  it('doctor says that nothing is stored yet, and stores nothing', async () => {
    const result = await plane.cli('doctor', '--json');
    expect(result.code).toBe(0);
    const { checks } = jsonOf(result) as { checks: { name: string; state: string; found: string }[] };
    expect(checks).toContainEqual({
      name: 'store',
      state: 'warn',
      found: 'nothing is stored under the name sallyport yet',
    });
    expect(checks).toContainEqual(
      expect.objectContaining({ name: 'durability', found: expect.stringContaining('AOF everysec') as string }),
    );
    expect(await redis.cli('DBSIZE')).toBe('0');
  });

  it.each([
    ['calls', 'list'],
    ['calls', 'show', '0.aaaaaaaaaaaa.aaaaaaaaaaaaaaaaaaaaaa'],
    ['calls', 'cancel', '0.aaaaaaaaaaaa.aaaaaaaaaaaaaaaaaaaaaa'],
    ['catalog'],
    ['workers'],
    ['sessions', 'list'],
    ['sessions', 'revoke', '0.aaaaaaaaaaaa.aaaaaaaaaaaaaaaaaaaaaa'],
    ['policy', 'show'],
    ['pause'],
    ['call', 'basic.echo', '{"text":"x"}'],
  ])('%s … says that nothing is stored yet, and stores nothing', async (...args) => {
    const result = await plane.cli(...args);
    expect(result).toMatchObject({ code: 69, stdout: '' });
    expect(result.stderr).toContain('Nothing is stored under the name sallyport yet.');
    expect(await redis.cli('DBSIZE')).toBe('0');
  });

  it('policy check goes without a store, and stores nothing', async () => {
    expect((await plane.cli('policy', 'check', 'open.json')).code).toBe(0);
    expect(await redis.cli('DBSIZE')).toBe('0');
  });

  it('is closed until a policy is set, then serves calls of other processes, and drains on SIGTERM', async () => {
    await withWorker(async (worker) => {
      const closed = await plane.call('basic.echo', { text: 'x' });
      expect(closed.code).toBe(1);
      expect(closed.stderr).toContain('denied (PERMISSION_DENIED');
      expect((await plane.cli('policy', 'set', 'open.json', '--expect', '0')).code).toBe(0);
      const answer = await plane.call('basic.echo', { text: 'hello' });
      expect(answer).toMatchObject({ code: 0 });
      expect(jsonOf(answer)).toStrictEqual({ text: 'hello' });
      expect((await plane.json('doctor'))['healthy']).toBe(true);
      const guessed = await plane.cli('gateway', 'login-link');
      expect(guessed.stdout).toMatch(/^http:\/\/127\.0\.0\.1:7411\//);
      expect(guessed.stderr).toContain('http://127.0.0.1:7411 is a guess');
      expect((await plane.cli('gateway', 'login-link', '--url', 'https://x.test')).stderr).not.toContain('guess');
      worker.kill('SIGTERM');
      expect(await worker.exited).toStrictEqual({ code: 0, signal: null });
      expect(await plane.json('workers')).toStrictEqual([]);
    });
  });

  it('resolve writes down what an operator found out about a call whose worker was killed', async () => {
    const file = plane.file('killed.txt');
    const callId = await withWorker(async (worker) => {
      const { stdout } = await plane.call(
        'basic.slowWrite',
        { file, line: 'x', ms: 60_000 },
        '--detach',
        '--deadline',
        '1h',
      );
      await plane.untilWritten('killed.txt', 'S');
      worker.kill('SIGKILL');
      await worker.exited;
      return stdout.trim();
    });
    await withWorker(async () => {
      const ended = await plane.cli('calls', 'wait', callId, '--wait', '40s');
      expect(ended.code).toBe(1);
      expect(ended.stderr).toContain('indeterminate (MAY_HAVE_RUN, it may have run)');
      expect((await plane.cli('calls', 'show', callId)).stdout).toContain(
        `sallyport calls resolve ${callId} --ran|--not-ran`,
      );
      expect((await plane.cli('calls', 'resolve', callId, '--ran')).code).toBe(0);
      expect(await plane.json('calls', 'show', callId)).toMatchObject({
        resolution: 'ran',
        outcome: { kind: 'indeterminate' },
      });
      const otherwise = await plane.cli('calls', 'resolve', callId, '--not-ran');
      expect(otherwise.code).toBe(1);
      expect(otherwise.stderr).toContain('already resolved: ran');
    });
  });

  it('doctor turns red when calls wait in a pool without a worker', async () => {
    const { stdout } = await plane.call('basic.echo', { text: 'x' }, '--detach', '--deadline', '1h');
    // A worker that was killed counts as alive until its heartbeat runs out.
    const doctor = await eventually(
      async () => {
        const result = await plane.cli('doctor');
        return result.code === 1 && result;
      },
      { what: 'doctor to turn red' },
    );
    expect(doctor.stdout).toMatch(/bad +queue +1 waiting; nobody serves pool default/);
    expect((await plane.cli('calls', 'cancel', stdout.trim())).stdout).toContain('cancelled');
  });
});

describe('a Redis that cannot be used', () => {
  it('ends a worker with 69 and the reason when its data is gone', async () => {
    const flushed = await startRedis();
    const worker = await plane.start('worker', ['--redis', flushed.url], QUICK);
    try {
      await flushed.cli('FLUSHALL');
      expect(await worker.exited).toStrictEqual({ code: 69, signal: null });
      expect(worker.stderr).toMatch(
        /sallyport: The worker cannot go on: The store is not the one this process started with: expected \S.*, found \S.*\. It was adopted since/,
      );
    } finally {
      await worker.stop();
      await flushed.stop();
    }
  });

  it('F26 is refused by a worker, and doctor names each command', async () => {
    const unsafe = await startRedis({ appendonly: false, maxmemoryPolicy: 'allkeys-lru' });
    try {
      const flags = ['--redis', unsafe.url];
      const worker = await plane.cli('worker', '--modules', plane.modules, ...flags);
      expect(worker).toMatchObject({ code: 78, stdout: '' });
      expect(worker.stderr).toMatch(/maxmemory-policy is allkeys-lru, needs noeviction; appendonly is no, needs yes/);
      const doctor = await plane.cli('doctor', ...flags);
      expect(doctor.code).toBe(1);
      const cli = `redis-cli -h 127.0.0.1 -p ${unsafe.port}`;
      expect(doctor.stdout).toContain(`fix: ${cli} CONFIG SET maxmemory-policy noeviction && ${cli} CONFIG REWRITE`);
      expect(doctor.stdout).toContain(`fix: ${cli} CONFIG SET appendonly yes`);
    } finally {
      await unsafe.stop();
    }
  });

  it('takes a password from the environment or a closed file, and ends with 77 on a wrong one', async () => {
    const locked = await startRedis({ password: 'hush-hush' });
    const other = planeFolder([], {
      SALLYPORT_STORE: 'redis',
      SALLYPORT_REDIS_URL: `redis://127.0.0.1:${locked.port}`,
    });
    try {
      const passwordFile = other.file('password');
      writeFileSync(passwordFile, 'hush-hush\n', { mode: 0o600 });
      writeFileSync(other.file('sallyport.yaml'), 'redis: { passwordFile: ./password }\n');
      expect(await other.cli('sessions', 'open', '--subject', 'ann')).toMatchObject({ code: 0 });
      expect(await other.cli('calls', 'list')).toMatchObject({ code: 0 });
      chmodSync(passwordFile, 0o644);
      const open = await other.cli('calls', 'list');
      expect(open.code).toBe(77);
      expect(open.stderr).toContain('can be read by other users');
      writeFileSync(other.file('sallyport.yaml'), 'redis: { password: "${REDIS_PASSWORD}", patienceMs: 1000 }\n');
      const wrong = await other.shell(
        `REDIS_PASSWORD=not-it SALLYPORT_STORE=redis SALLYPORT_REDIS_URL=redis://127.0.0.1:${locked.port} node '${MAIN}' calls list`,
      );
      expect(wrong.code).toBe(77);
      expect(`${wrong.stdout}${wrong.stderr}`).not.toContain('not-it');
    } finally {
      other.remove();
      await locked.stop();
    }
  });

  it('L16 ends with 69 and one line when one side speaks TLS and the other does not', async () => {
    const tls = await makeTlsFiles();
    const secure = await startRedis({ tls });
    try {
      const patience = { SALLYPORT_REDIS_PATIENCE_MS: '1500' };
      const impatient = planeFolder([], patience);
      for (const url of [`rediss://127.0.0.1:${redis.port}`, `redis://127.0.0.1:${secure.port}`, secure.url]) {
        const result = await impatient.cli('calls', 'list', '--redis', url);
        expect(result).toMatchObject({ code: 69, stdout: '' });
        expect(result.stderr.trimEnd().split('\n')).toHaveLength(2);
      }
      writeFileSync(
        impatient.file('sallyport.yaml'),
        `store: redis\nredis: { url: "${secure.url}", tls: { caFile: "${tls.caFile}" } }\n`,
      );
      expect(await impatient.cli('sessions', 'open', '--subject', 'ann')).toMatchObject({ code: 0 });
      expect(await impatient.cli('calls', 'list')).toMatchObject({ code: 0 });
      impatient.remove();
    } finally {
      await secure.stop();
      tls.remove();
    }
  });
});
