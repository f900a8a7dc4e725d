import { describe, expect, it } from 'vitest';
import { planeError } from '../domain/errors/errors.ts';
import { inspectLaneUse, inspectPart, inspectServerRoom } from './inspect-capacity.ts';
import { inspectServed } from './inspect-fleet.ts';

const LIMITS = { liveBytes: 100, retainedBytes: 1000 };
const use = (more: object = {}) => ({
  lane: 0,
  liveBytes: 0,
  retainedBytes: 0,
  overdueMs: 0,
  pendingApprovals: 0,
  damaged: [],
  ...more,
});
const one = (more: object) => ({
  fullestSubject: { liveBytes: 0, parkedBytes: 0, retainedBytes: 0, pendingApprovals: 0, ...more },
});
const OK = { 'live bytes': 'ok', 'retained bytes': 'ok', reclaim: 'ok' };
const states = (checks: readonly { name: string; state: string }[]) =>
  Object.fromEntries(checks.map(({ name, state }) => [name, state]));

describe('what doctor says about a lane', () => {
  it.each([
    [[use()], { 'live bytes': 'ok', 'retained bytes': 'ok', reclaim: 'ok' }],
    [[use({ retainedBytes: 900 })], { 'live bytes': 'ok', 'retained bytes': 'warn', reclaim: 'ok' }],
    [[use(), use({ retainedBytes: 1000 })], { 'live bytes': 'ok', 'retained bytes': 'bad', reclaim: 'ok' }],
    [[use({ liveBytes: 100 })], { 'live bytes': 'bad', 'retained bytes': 'ok', reclaim: 'ok' }],
    [[use(one({ liveBytes: 89 }))], { ...OK, 'subject shares': 'ok' }],
    [[use(one({ liveBytes: 90 }))], { ...OK, 'subject shares': 'warn' }],
    [[use(one({ retainedBytes: 1000 }))], { ...OK, 'subject shares': 'warn' }],
    [[use(), use(one({ pendingApprovals: 950 }))], { ...OK, 'subject shares': 'warn' }],
    [[use({ overdueMs: 599_999 })], { 'live bytes': 'ok', 'retained bytes': 'ok', reclaim: 'ok' }],
    [[use({ overdueMs: 600_000 })], { 'live bytes': 'ok', 'retained bytes': 'ok', reclaim: 'bad' }],
  ])('%j', (uses, expected) => {
    expect(states(inspectLaneUse(uses, LIMITS))).toEqual(expected);
  });
});

describe('what doctor says about numbers that were overwritten', () => {
  const field = (name: string) => ({ key: '{sallyport:0}:meta', field: name, problem: 'is "abc"' });
  it('names lane, key and field, and the command that writes it again', () => {
    const [check] = inspectLaneUse([use(), use({ lane: 1, damaged: [field('policyVersion')] })], LIMITS);
    expect(check).toMatchObject({
      name: 'lane',
      state: 'bad',
      found: 'lane 1: policyVersion of {sallyport:0}:meta is "abc"',
      fix: expect.stringContaining('sallyport store adopt') as string,
    });
  });
  it('names a few of many', () => {
    const damaged = Array.from({ length: 1000 }, (_, at) => field(`f${at}`));
    const found = inspectLaneUse([use({ damaged })], LIMITS).filter(({ name }) => name === 'lane');
    expect(found.map((check) => check.found).at(-1)).toBe('995 more numbers like these');
    expect(found).toHaveLength(6);
  });
});

describe('a part that doctor cannot read', () => {
  it.each([
    [planeError('STORE_FORBIDDEN', { problem: 'NOPERM' }), 'warn', 'unknown: this user may not look at it'],
    [planeError('INTERNAL', { problem: 'x' }), 'bad', 'what the store holds cannot be read: '],
    [new TypeError('x is not iterable'), 'bad', 'what the store holds cannot be read: x is not iterable'],
    [planeError('STORE_FAILED', { problem: 'WRONGTYPE' }), 'bad', 'The store answered with an error: WRONGTYPE.'],
  ])('is a row of its own: %s', async (error, state, found) => {
    const checks = await inspectPart('workers', () => Promise.reject(error));
    expect(checks).toMatchObject([{ name: 'workers', state, found: expect.stringContaining(found) as string }]);
  });
});

describe('what doctor says that a full share of a subject refuses', () => {
  it.each([
    [{ liveBytes: 100 }, 'its new calls are refused'],
    [{ retainedBytes: 1000 }, 'its new calls are refused'],
    [{ parkedBytes: 100 }, 'its calls that a person would be asked about are refused'],
    [{ pendingApprovals: 1000 }, 'its calls that a person would be asked about are refused'],
  ])('%j', (full, said) => {
    const check = inspectLaneUse([use(one(full))], LIMITS).find(({ name }) => name === 'subject shares');
    expect(check?.found.split(': ')[1]).toBe(said);
  });
});

describe('what doctor says about room on a Redis server', () => {
  const info = (used: number, limit: number, aof = 'ok', rdb = 'ok'): string =>
    `# Memory\r\nused_memory:${used}\r\nused_memory_rss:9\r\nmaxmemory:${limit}\r\naof_last_write_status:${aof}\r\nrdb_last_bgsave_status:${rdb}\r\n`;
  it.each([
    [info(5, 0), { memory: 'ok', disk: 'ok' }],
    [info(89, 100), { memory: 'ok', disk: 'ok' }],
    [info(90, 100), { memory: 'warn', disk: 'ok' }],
    [info(100, 100), { memory: 'bad', disk: 'ok' }],
    [info(1, 100, 'err'), { memory: 'ok', disk: 'bad' }],
    [info(1, 100, 'ok', 'err'), { memory: 'ok', disk: 'bad' }],
  ])('%j', (text, expected) => {
    expect(states(inspectServerRoom(text))).toEqual(expected);
  });
});

describe('what doctor says about published tools', () => {
  const published = (id: string, digest: string, pinned?: 'caller') => ({
    id,
    digest,
    version: '2.0.0',
    pool: 'default',
    tools: [{ id: `${id}.run`, ...(pinned === undefined ? {} : { pinned }) }] as never,
  });
  const worker = (...modules: [id: string, digest: string][]) => ({
    pool: 'default',
    state: 'serving' as const,
    modules: modules.map(([id, digest]) => ({ id, digest })),
  });

  it('nothing while live workers serve what is published, or callers run it themselves', () => {
    expect(inspectServed([published('a', '1'), published('mine', '3', 'caller')], [worker(['a', '1'])])).toEqual([]);
  });

  it('that they are ghosts when no live worker has their module, and how to withdraw them', () => {
    const [check, ...more] = inspectServed([published('a', '1'), published('b', '1')], [worker(['a', '1'])]);
    expect(check).toMatchObject({
      name: 'ghost tools',
      state: 'bad',
      found: 'published, but no live worker serves them: b.run',
      fix: expect.stringContaining('sallyport catalog withdraw --unserved') as string,
    });
    expect(more).toEqual([]);
    expect(inspectServed([published('a', '1')], [])).toMatchObject([{ name: 'ghost tools', state: 'warn' }]);
  });

  it('that only another version is served', () => {
    expect(inspectServed([published('a', '2')], [worker(['a', '1'])])).toMatchObject([
      { name: 'versions', state: 'bad', found: expect.stringContaining('a 2.0.0') as string },
    ]);
  });
});

it('doctor does not answer a failed store with the advice to run doctor', async () => {
  const [check] = await inspectPart('store', () =>
    Promise.reject(planeError('STORE_FAILED', { problem: 'disk I/O error' })),
  );
  expect(check).toMatchObject({
    name: 'store',
    state: 'bad',
    found: expect.stringContaining('disk I/O error') as string,
  });
  expect(check!.fix).not.toContain('doctor');
});
