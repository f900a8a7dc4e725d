import { describe, expect, it } from 'vitest';
import type { HookHealth } from '../domain/policy/hook.ts';
import type { WorkerId } from '../domain/identity/ids.ts';
import { inspectHooks } from './inspect-hooks.ts';

const health = (overrides: Partial<HookHealth> = {}): HookHealth => ({
  hook: 'guard.x',
  on: 'before_tool_call',
  calls: 10,
  blocked: 1,
  asked: 0,
  changed: 0,
  failed: 0,
  timedOut: 0,
  dropped: 0,
  ...overrides,
});
const worker = (id: string, hooks?: HookHealth[], pool = 'default') => ({
  workerId: id as WorkerId,
  pool,
  ...(hooks === undefined ? {} : { hooks }),
});
const found = (...workers: ReturnType<typeof worker>[]) =>
  inspectHooks(workers).map(({ name, state, found: what }) => [name, state, what]);

describe('doctor on hooks', () => {
  it('says nothing where there are none', () => expect(found(worker('a'), worker('b'))).toStrictEqual([]));

  it('counts hooks that are well', () => {
    expect(found(worker('a', [health()]), worker('b', [health({ calls: 5 })]))).toStrictEqual([
      ['hooks', 'ok', '1 hook, asked or told 15 times'],
    ]);
  });

  it('reports failures, and is bad when a hook closes its tools', () => {
    const some = health({ failed: 2, timedOut: 1 });
    const all = health({ hook: 'guard.y', calls: 3, failed: 3 });
    const observer = health({ hook: 'log.z', on: 'after_tool_call', calls: 1, failed: 1 });
    const results = health({ hook: 'mask.r', on: 'tool_result', calls: 2, failed: 2 });
    expect(found(worker('a', [some, all, results, observer])).slice(1)).toStrictEqual([
      [
        'hook',
        'warn',
        'worker a: hook guard.x failed 2 of 10 times, 1 of them by taking too long; those calls were blocked',
      ],
      ['hook', 'bad', 'worker a: hook guard.y failed 3 of 3 times; those calls were blocked'],
      ['hook', 'bad', 'worker a: hook mask.r failed 2 of 2 times; those results were withheld'],
      ['hook', 'warn', 'worker a: hook log.z failed 1 of 1 times'],
    ]);
  });

  it('reports observers that missed calls', () => {
    expect(found(worker('a', [health({ on: 'after_tool_call', dropped: 7 })]))[1]).toStrictEqual([
      'hook',
      'warn',
      'worker a: hook guard.x is too slow: it was not told of 7 calls',
    ]);
  });

  it('reports workers of one pool with different hooks', () => {
    const one = worker('a', [health()]);
    expect(found(one, worker('b'))[1]).toMatchObject(['hooks', 'bad', expect.stringContaining('pool default')]);
    expect(found(one, worker('b', undefined, 'other'))).toHaveLength(1);
  });
});
