import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startRedis, type RedisServer } from '../support/redis-server.ts';
import { failOnLeaks } from '../support/reaper.ts';
import type { WatchedProcess } from '../support/watched-process.ts';
import { planeFolder, type PlaneFolder } from './plane-folder.ts';

// Each test starts a dozen processes one after the other.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

let redis: RedisServer;
let plane: PlaneFolder;
let worker: WatchedProcess | undefined;
const QUICK = { SALLYPORT_WORKER_LEASE_MS: '1500' };

beforeEach(async () => {
  redis = await startRedis();
  const env = { SALLYPORT_STORE: 'redis', SALLYPORT_REDIS_URL: redis.url, SALLYPORT_REDIS_CREATE: 'false' };
  plane = planeFolder([], env);
  writeFileSync(plane.file('open.json'), '{"permissions":{"*":{"allow":["*"]}}}');
  await plane.cli('store', 'adopt', '--yes');
  await plane.cli('policy', 'set', 'open.json');
  worker = await plane.start('worker', [], QUICK);
});
afterEach(async () => {
  await worker?.stop();
  plane.remove();
  await redis.stop();
  failOnLeaks();
});

async function untilStopped(): Promise<string> {
  expect(await worker!.exited).toStrictEqual({ code: 69, signal: null });
  return worker!.stderr;
}

const tryToStart = (): Promise<string> =>
  plane.start('worker', [], QUICK).then(async (started) => `started: ${(await started.stop()).code}`, String);

describe('I26: workers stop when the data is not theirs any more, and an operator leads them out', () => {
  it('after FLUSHALL a worker names the command; only adopt makes a new store', async () => {
    await redis.cli('FLUSHALL');
    expect(await untilStopped()).toContain('sallyport store adopt');
    const doctor = await plane.cli('doctor');
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toMatch(/bad +store +Nothing is stored under the name sallyport,/);
    expect(doctor.stdout).toMatch(/fix: .*sallyport store restore.*sallyport store adopt/);
    expect(await tryToStart()).toContain('Nothing is stored under the name sallyport');
    expect((await plane.cli('policy', 'set', 'open.json')).stderr).toContain(
      'Nothing is stored under the name sallyport',
    );
    expect(await redis.cli('DBSIZE')).toBe('0');
    const adopted = await plane.cli('store', 'adopt', '--yes');
    expect(adopted).toMatchObject({ code: 0 });
    expect(adopted.stdout).toContain('all of it is lost');
    expect((await plane.cli('policy', 'set', 'open.json')).code).toBe(0);
    worker = await plane.start('worker', [], QUICK);
    expect(await plane.call('basic.echo', { text: 'x' })).toMatchObject({ code: 0 });
  });

  it('older data stops the processes that knew newer data, and then all, until it is adopted', async () => {
    await plane.call('basic.echo', { text: 'a' });
    await redis.cli('SAVE');
    const sequence = Number(await redis.cli('HGET', '{sallyport:0}:meta', 'auditSequence'));
    await plane.call('basic.echo', { text: 'b' });
    await plane.call('basic.echo', { text: 'c' });
    // Redis loads its RDB file and loses all that was written after it, while the worker keeps running.
    await redis.cli('DEBUG', 'RELOAD', 'NOSAVE');
    expect(Number(await redis.cli('HGET', '{sallyport:0}:meta', 'auditSequence'))).toBe(sequence);
    expect(await untilStopped()).toContain('sallyport store adopt');
    // A new process has not seen the later sequence itself. It is refused with what the worker has found.
    const refused = await tryToStart();
    expect(refused).toMatch(
      new RegExp(`a worker had seen audit sequence \\d+ in lane 0, and it went back to ${sequence}\\.`),
    );
    expect((await plane.cli('doctor')).stdout).toContain('sallyport store adopt');
    const adopted = await plane.cli('store', 'adopt', '--yes');
    expect(adopted.stdout).toContain(`it went back to ${sequence}`);
    worker = await plane.start('worker', [], QUICK);
    expect(await plane.call('basic.echo', { text: 'd' })).toMatchObject({ code: 0 });
  });

  it('a note about the data that was overwritten closes the store, and adopting opens it', async () => {
    await worker!.stop();
    await redis.cli('HSET', '{sallyport}:incarnation', 'condition', 'no JSON');
    const why = 'the note that says why it may not be used was overwritten';
    expect(await tryToStart()).toContain(why);
    expect((await plane.cli('doctor')).stdout).toContain('sallyport store adopt');
    expect((await plane.cli('store', 'adopt', '--yes')).stdout).toContain(why);
    worker = await plane.start('worker', [], QUICK);
    expect(await plane.call('basic.echo', { text: 'x' })).toMatchObject({ code: 0 });
  });

  it('numbers that a role overwrote are named by doctor, and adopting writes those of the lanes again', async () => {
    const { stdout: waiting } = await plane.call('basic.echo', { text: 'x' }, '--detach');
    await plane.cli('calls', 'wait', waiting.trim());
    await worker!.stop();
    await plane.call('basic.echo', { text: 'y' }, '--detach', '--deadline', '1h');
    const meta = '{sallyport:0}:meta';
    const liveBytes = await redis.cli('HGET', meta, 'liveBytes');
    const fields = ['epoch', 'cancelSequence', 'liveBytes', 'retainedBytes', 'parkedBytes'];
    for (const field of fields) await redis.cli('HSET', meta, field, field === 'parkedBytes' ? '-5' : 'abc');
    await redis.cli('HSET', meta, 'policyVersion', '100000');
    await redis.cli('HSET', '{sallyport:0}:retained', 'abc', '5');
    const red = await plane.cli('doctor');
    expect(red.code).toBe(1);
    expect(red.stdout).toMatch(
      /bad +lane +lane 0: policyVersion of \{sallyport:0\}:meta is 100000, and the policy has/,
    );
    expect(red.stdout).toMatch(/fix: sallyport store adopt writes it again/);
    for (const field of fields.slice(0, 4))
      expect(red.stdout).toContain(`lane 0: ${field} of {sallyport:0}:meta is "abc"`);
    expect(red.stdout).toContain('2 more numbers like these');
    expect(red.stdout).toMatch(/ok +reclaim/);
    expect(red.stdout).toMatch(/audit/);
    expect(red.stdout).not.toContain('NaN');
    expect(await plane.cli('store', 'adopt', '--yes')).toMatchObject({ code: 0 });
    expect(await redis.cli('HGET', meta, 'liveBytes')).toBe(liveBytes);
    expect(Number(liveBytes)).toBeGreaterThan(0);
    worker = await plane.start('worker', [], QUICK);
    expect(await plane.call('basic.echo', { text: 'x' })).toMatchObject({ code: 0 });
    expect((await plane.cli('doctor')).stdout).not.toMatch(/bad +lane/);

    await worker!.stop();
    await redis.cli('HSET', '{sallyport}:policy', 'version', 'abc');
    const policy = await plane.cli('doctor');
    expect(policy.code).toBe(1);
    expect(policy.stdout).toMatch(/bad +policy +what the store holds cannot be read/);
    expect(policy.stdout).toMatch(/ok +reclaim/);
    expect((await plane.cli('store', 'adopt', '--yes')).stderr).toContain(
      'The field version of {sallyport}:policy is "abc"',
    );
    await redis.cli('HSET', '{sallyport}:incarnation', 'lanes', 'abc');
    const said = 'The field lanes of {sallyport}:incarnation is "abc", where Sallyport writes the number of lanes';
    const lanes = await plane.cli('doctor');
    expect(lanes.code).toBe(1);
    expect(lanes.stdout).toContain(said);
    const adopted = await plane.cli('store', 'adopt', '--yes');
    expect(adopted).toMatchObject({ code: 69 });
    expect(adopted.stderr).toContain(said);
    expect(adopted.stderr).toContain('HSET');
  });

  it('a lane that is gone is not made anew by the next process that starts', async () => {
    await worker!.stop();
    await redis.cli('DEL', '{sallyport:0}:meta');
    expect(await tryToStart()).toContain('found none in lane 0');
    const adopted = await plane.cli('store', 'adopt', '--yes');
    expect(adopted.stdout).toContain('lane 0 of 1 is gone with everything in it');
    worker = await plane.start('worker', [], QUICK);
    expect(await plane.call('basic.echo', { text: 'x' })).toMatchObject({ code: 0 });
  });

  it('adopting a store that is whole stops the processes that use it, and says so before', async () => {
    const adopted = await plane.cli('store', 'adopt', '--yes');
    expect(adopted.stdout).toContain('stops every process that uses the store now');
    expect(await untilStopped()).toContain('If an operator has adopted the store since, start this process again.');
    worker = await plane.start('worker', [], QUICK);
    expect(await plane.call('basic.echo', { text: 'x' })).toMatchObject({ code: 0 });
  });
});
