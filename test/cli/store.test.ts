import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startRedis, type RedisServer } from '../support/redis-server.ts';
import { failOnLeaks } from '../support/reaper.ts';
import type { WatchedProcess } from '../support/watched-process.ts';
import { planeFolder, type PlaneFolder } from './plane-folder.ts';

// Each test starts a dozen processes one after the other.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

/** One store and the place where its copy is restored. */
interface Stage {
  readonly plane: PlaneFolder;
  /** Flags that name the empty place where the copy is restored. */
  readonly elsewhere: readonly string[];
  start(...flags: readonly string[]): Promise<WatchedProcess>;
  stop(): Promise<void>;
}

const QUICK = { SALLYPORT_WORKER_LEASE_MS: '1500' };

async function stageEmbedded(): Promise<Stage> {
  const plane = planeFolder();
  return {
    plane,
    elsewhere: ['--folder', 'other'],
    start: (...flags) => plane.start('dev', flags, QUICK),
    stop: async () => plane.remove(),
  };
}

async function stageRedis(): Promise<Stage> {
  const redis: RedisServer = await startRedis();
  const plane = planeFolder([], { SALLYPORT_STORE: 'redis', SALLYPORT_REDIS_URL: redis.url });
  writeFileSync(plane.file('open.json'), '{"permissions":{"*":{"allow":["*"]}}}');
  await plane.cli('policy', 'set', 'open.json');
  return {
    plane,
    elsewhere: ['--redis-name', 'other'],
    start: (...flags) => plane.start('worker', flags, QUICK),
    stop: async () => {
      plane.remove();
      await redis.stop();
    },
  };
}

describe.each([
  ['embedded', stageEmbedded],
  ['redis', stageRedis],
])('sallyport store, %s', (_, stageStore) => {
  let stage: Stage;
  let running: WatchedProcess | undefined;
  beforeEach(async () => void (stage = await stageStore()));
  afterEach(async () => {
    await running?.stop();
    running = undefined;
    await stage.stop();
    failOnLeaks();
  });

  async function callOnce(text: string): Promise<string> {
    const { stdout } = await stage.plane.call('basic.echo', { text }, '--detach', '--deadline', '1h');
    await stage.plane.cli('calls', 'wait', stdout.trim());
    return stdout.trim();
  }

  it('a copy made while calls run holds what was settled, closed to others, and is refused where one is already', async () => {
    const { plane } = stage;
    running = await stage.start();
    const settled = await callOnce('before');
    const file = plane.file('slow.txt');
    const slow = await plane.call('basic.slowRead', { file, line: 'x', ms: 60_000 }, '--detach', '--deadline', '1h');
    await plane.untilWritten('slow.txt', 'S');
    const made = await plane.json('store', 'backup', 'copy');
    expect(made).toMatchObject({ format: 1, lanes: [{ lane: 0, liveCalls: 1 }] });
    const files = made['files'] as { name: string; bytes: number }[];
    for (const { name, bytes } of files) expect(statSync(plane.file(`copy/${name}`)).size).toBe(bytes);
    for (const name of readdirSync(plane.file('copy'))) {
      expect([name, statSync(plane.file(`copy/${name}`)).mode & 0o077]).toStrictEqual([name, 0]);
    }
    expect(statSync(plane.file('copy')).mode & 0o077).toBe(0);
    // The running worker was neither blocked nor disconnected by the backup.
    expect(await callOnce('after')).not.toBe(settled);
    const again = await plane.cli('store', 'backup', 'copy');
    expect(again).toMatchObject({ code: 1 });
    expect(again.stderr).toContain('is there already');
    await plane.cli('calls', 'cancel', slow.stdout.trim());
  });

  it('restored elsewhere it is closed until it is adopted; then outcomes are read and calls run', async () => {
    const { plane, elsewhere } = stage;
    running = await stage.start();
    const settled = await callOnce('kept');
    await plane.cli('store', 'backup', 'copy');
    await running.stop();
    const restored = await plane.cli('store', 'restore', 'copy', ...elsewhere);
    expect(restored).toMatchObject({ code: 0, stderr: '' });
    expect(restored.stdout).toContain(`sallyport ${elsewhere.join(' ')} store adopt`);
    const closed = await plane.cli('calls', 'show', settled, ...elsewhere);
    expect(closed.code).toBe(69);
    expect(closed.stderr).toContain('it was restored from a backup');
    expect(closed.stderr).toContain(`sallyport ${elsewhere.join(' ')} store adopt`);
    const starting = await stage.start(...elsewhere).catch((error: unknown) => String(error));
    expect(starting).toContain('it was restored from a backup');
    expect((await plane.cli('store', 'restore', 'copy', ...elsewhere)).stderr).toContain('There is a store in');

    const unsure = await plane.cli('store', 'adopt', ...elsewhere);
    expect(unsure).toMatchObject({ code: 2 });
    expect(unsure.stderr).toContain('--yes');
    const adopted = await plane.cli('store', 'adopt', '--yes', ...elsewhere);
    expect(adopted).toMatchObject({ code: 0, stderr: '' });
    expect(adopted.stdout).toContain('after that copy is lost');
    running = await stage.start(...elsewhere);
    expect(await plane.json('calls', 'show', settled, ...elsewhere)).toMatchObject({ outcome: { kind: 'ok' } });
    expect(await plane.call('basic.echo', { text: 'new' }, ...elsewhere)).toMatchObject({ code: 0 });
  });

  it('calls that had not ended in the copy are not run again if their tool is unsafe; others are', async () => {
    const { plane, elsewhere } = stage;
    running = await stage.start('--concurrency', '1');
    const detach = async (tool: string, args: object): Promise<string> =>
      (await plane.call(tool, args, '--detach', '--deadline', '1h')).stdout.trim();
    // This call takes the only slot, so the next two are still queued when the copy is made, and run afterwards.
    const slow = await detach('basic.slowRead', { file: plane.file('slow.txt'), line: 'x', ms: 600_000 });
    await plane.untilWritten('slow.txt', 'S');
    const unsafe = await detach('basic.write', { file: plane.file('unsafe.txt'), line: 'u' });
    const safe = await detach('basic.writeAgain', { file: plane.file('safe.txt'), line: 's' });
    await plane.cli('store', 'backup', 'copy');
    await plane.cli('calls', 'cancel', slow);
    for (const id of [unsafe, safe]) expect((await plane.cli('calls', 'wait', id, '--wait', '30s')).code).toBe(0);
    await running.stop();

    await plane.cli('store', 'restore', 'copy', ...elsewhere);
    const adopted = await plane.cli('store', 'adopt', '--yes', ...elsewhere);
    expect(adopted.stdout).toContain('Unfinished calls in it: 3');
    expect(adopted.stdout).toContain('Ended as indeterminate: 1 of basic.write');
    await plane.cli('calls', 'cancel', slow, ...elsewhere);
    running = await stage.start(...elsewhere);
    expect((await plane.cli('calls', 'wait', safe, '--wait', '30s', ...elsewhere)).code).toBe(0);
    expect(await plane.json('calls', 'show', unsafe, ...elsewhere)).toMatchObject({
      outcome: { kind: 'indeterminate', executed: 'unknown', error: { code: 'STORE_WENT_BACK' } },
    });
    expect((await plane.cli('calls', 'resolve', unsafe, '--ran', ...elsewhere)).code).toBe(0);
    expect(readFileSync(plane.file('unsafe.txt'), 'utf8').trim().split('\n')).toHaveLength(1);
    expect(readFileSync(plane.file('safe.txt'), 'utf8').trim().split('\n')).toHaveLength(2);
  });

  it('a copy of which one byte was changed, or a file or the manifest is missing, is not restored', async () => {
    const { plane, elsewhere } = stage;
    running = await stage.start();
    await callOnce('x');
    const { files } = (await plane.json('store', 'backup', 'copy')) as unknown as { files: { name: string }[] };
    const path = plane.file(join('copy', files[0]!.name));
    const bytes = readFileSync(path);
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(path, bytes);
    const changed = await plane.cli('store', 'restore', 'copy', ...elsewhere);
    expect(changed).toMatchObject({ code: 1 });
    expect(changed.stderr).toContain('was changed: its digest is another');
    writeFileSync(path, bytes.subarray(1));
    expect((await plane.cli('store', 'restore', 'copy', ...elsewhere)).stderr).toMatch(/has \d+ bytes instead of/);
    writeFileSync(plane.file('copy/manifest.json'), '{"format":99}');
    expect((await plane.cli('store', 'restore', 'copy', ...elsewhere)).stderr).toContain('it has format 99');
    expect((await plane.cli('store', 'restore', '.', ...elsewhere)).stderr).toContain('it has no manifest.json');
    // Nothing of it was written.
    expect((await plane.cli('calls', 'list', ...elsewhere)).stderr).toMatch(/There is no store|Nothing is stored/);
  });
});
