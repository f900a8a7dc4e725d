import { describe, expect, it } from 'vitest';
import { deferred } from '../../../test/support/sample-call.ts';
import { hookedCall, hookSet, recordingNeeds } from '../../../test/support/sample-hooks.ts';
import { errorOutcome } from '../../domain/errors/errors.ts';
import { runBeforeHooks } from './run-before-hooks.ts';

class Odd {
  block = false;
}
const cyclic: { self?: unknown } = {};
cyclic.self = cyclic;
const revoked = Proxy.revocable({}, {});
revoked.revoke();

const FAILING: readonly (readonly [string, () => unknown, string])[] = [
  [
    'throws',
    () => {
      throw new Error('boom');
    },
    'threw',
  ],
  [
    'throws nothing at all',
    () => {
      throw undefined as unknown as Error;
    },
    'threw',
  ],
  ['rejects', () => Promise.reject(new Error('boom')), 'threw'],
  [
    'throws a value that cannot be read',
    () => {
      throw revoked.proxy as Error;
    },
    'threw',
  ],
  ['answers true', () => true, 'invalid-answer'],
  ['answers text', () => 'allow', 'invalid-answer'],
  ['answers a list', () => [], 'invalid-answer'],
  ['answers an instance of a class', () => new Odd(), 'invalid-answer'],
  ['answers a map', () => new Map([['block', true]]), 'invalid-answer'],
  ['answers something cyclic', () => ({ params: cyclic }), 'invalid-answer'],
  ['answers a revoked proxy', () => revoked.proxy, 'threw'],
  ['answers with an unknown key', () => ({ blocked: true }), 'invalid-answer'],
  ['answers with an id of its own', () => ({ requireApproval: { hook: 'other.hook' } }), 'invalid-answer'],
  ['wants to allow on timeout', () => ({ requireApproval: { timeoutBehavior: 'allow' } }), 'invalid-answer'],
  ['blocks with a word', () => ({ block: 'yes' }), 'invalid-answer'],
  ['has a reason and no block', () => ({ reason: 'no' }), 'invalid-answer'],
  ['gives params and patch', () => ({ params: { path: 'a' }, patch: {} }), 'invalid-answer'],
  ['gives params that are no object', () => ({ params: ['a'] }), 'invalid-answer'],
  ['gives params with a date', () => ({ params: { path: new Date() } }), 'invalid-answer'],
  ['gives params with bytes', () => ({ params: { path: new Uint8Array(3) } }), 'invalid-answer'],
  ['gives params with a function', () => ({ params: { path: () => 'x' } }), 'invalid-answer'],
  ['gives a prototype', () => ({ patch: JSON.parse('{"__proto__": {"admin": true}}') as object }), 'invalid-answer'],
  ['offers no decision', () => ({ requireApproval: { decisions: [] } }), 'invalid-answer'],
  ['offers an unknown decision', () => ({ requireApproval: { decisions: ['allow'] } }), 'invalid-answer'],
  ['names an unknown severity', () => ({ requireApproval: { severity: 'low' } }), 'invalid-answer'],
  [
    'has a getter that throws',
    () => ({
      get block() {
        throw new Error('getter');
      },
    }),
    'invalid-answer',
  ],
];

describe('a hook that', () => {
  it.each(FAILING)('%s blocks the call, and no later hook is asked', async (_name, run, how) => {
    const needs = recordingNeeds();
    const set = hookSet({ id: 'bad', run }, { id: 'late', run: () => expect.fail('asked') });
    expect(await runBeforeHooks(set, hookedCall(), needs)).toStrictEqual({ kind: 'failed', hook: 'bad' });
    expect(needs.events).toMatchObject([
      { type: 'hook.failed', hook: 'bad', tool: 'files.write', callId: 'call-1', how },
    ]);
    expect(needs.lines).toHaveLength(1);
    expect(set.health()[0]).toMatchObject({ calls: 1, failed: 1, timedOut: 0, blocked: 0 });
  });

  it('does not answer in time is aborted, and a later answer is dropped', async () => {
    const needs = recordingNeeds();
    const late = deferred<object>();
    const told = deferred<unknown>();
    const set = hookSet({
      id: 'slow',
      timeoutMs: 5,
      run: (_event, { signal }) => {
        signal.addEventListener('abort', () => told.resolve(signal.reason));
        return late.promise;
      },
    });
    expect(await runBeforeHooks(set, hookedCall(), needs)).toStrictEqual({ kind: 'failed', hook: 'slow' });
    expect(await told.promise).toMatchObject({ message: 'no answer within 5 ms' });
    expect(needs.events).toMatchObject([{ how: 'timed-out' }]);
    expect(set.health()[0]).toMatchObject({ failed: 1, timedOut: 1 });
    late.reject(new Error('too late'));
    await new Promise(setImmediate);
    expect(needs.lines).toHaveLength(1);
  });

  it('looks at its signal only after its time is over finds it aborted', async () => {
    const looked = deferred<boolean>();
    const set = hookSet({
      id: 'slow',
      timeoutMs: 5,
      run: (_event, context) => new Promise(() => setTimeout(() => looked.resolve(context.signal.aborted), 20)),
    });
    await runBeforeHooks(set, hookedCall(), recordingNeeds());
    expect(await looked.promise).toBe(true);
  });

  it('has 15 seconds by default', () => {
    expect(hookSet({ id: 'x', run: () => undefined }).hooks[0]!.timeoutMs).toBe(15_000);
  });

  it('answers by any kind of promise is waited for', async () => {
    // oxlint-disable-next-line unicorn/no-thenable -- the test is about answers that are thenables
    const thenable = { then: (resolve: (answer: object) => void) => resolve({ block: true }) };
    for (const answer of [thenable, Object.assign(() => {}, thenable)]) {
      const set = hookSet({ id: 'odd', run: () => answer });
      expect(await runBeforeHooks(set, hookedCall(), recordingNeeds())).toMatchObject({ kind: 'blocked' });
    }
  });
});

describe('the cause of a failure', () => {
  it('is only in the log, on one line, cut, without control characters and secrets', () => {
    const needs = recordingNeeds();
    const secret =
      'connect redis://bot:hunter2@db failed\r\n\u001b[2JAuthorization: Bearer abcdef123456 api_key=zzz999 ';
    const set = hookSet({
      id: 'bad',
      run: () => {
        throw new Error(secret + 'x'.repeat(2000));
      },
    });
    const verdict = runBeforeHooks(set, hookedCall(), needs);
    const cause = String(needs.lines[0]!.facts['cause']);
    expect(needs.lines[0]).toMatchObject({
      level: 'error',
      message: 'hook failed',
      facts: { hook: 'bad', callId: 'call-1' },
    });
    expect(cause).toMatch(/^Error: connect redis:\/\/bot:\*\*\*@db failed/);
    expect(cause).not.toMatch(/\p{Cc}|hunter2|abcdef123456|zzz999/u);
    expect(cause.length).toBeLessThanOrEqual(500);
    expect(JSON.stringify([verdict, needs.events])).not.toMatch(/connect|redis/);
  });

  it('is not in the one sentence the model gets', () => {
    const { error, kind, executed } = errorOutcome('HOOK_FAILED', {});
    expect({ kind, executed }).toStrictEqual({ kind: 'blocked', executed: 'no' });
    expect(error!.message).toBe(
      'The call was not run, because a check of it could not be completed. Do not try again; tell the operator.',
    );
  });

  it('does not matter to a listener that throws itself', () => {
    const needs = recordingNeeds({
      onEvent: () => {
        throw new Error('listener');
      },
    });
    const set = hookSet({
      id: 'bad',
      run: () => {
        throw new Error('boom');
      },
    });
    expect(runBeforeHooks(set, hookedCall(), needs)).toStrictEqual({ kind: 'failed', hook: 'bad' });
  });
});

describe('the health of a hook', () => {
  it('counts what it did and how long it took', () => {
    const answers = [undefined, { block: true }, { patch: { mode: 'r' } }, { requireApproval: {} }, 'nonsense'];
    const set = hookSet({ id: 'busy', run: () => answers.shift() });
    for (let call = 0; call < 5; call += 1) void runBeforeHooks(set, hookedCall(), recordingNeeds());
    const [health] = set.health();
    expect(health).toMatchObject({ hook: 'busy', calls: 5, blocked: 1, changed: 1, asked: 1, failed: 1, dropped: 0 });
    expect(health!.p95Ms).toBeGreaterThanOrEqual(0);
    expect(health!.lastFailureAt).toBeGreaterThan(0);
  });

  it('has no times before the first call', () => {
    expect(hookSet({ id: 'new', run: () => undefined }).health()).toStrictEqual([
      {
        hook: 'new',
        on: 'before_tool_call',
        calls: 0,
        blocked: 0,
        asked: 0,
        changed: 0,
        failed: 0,
        timedOut: 0,
        dropped: 0,
      },
    ]);
  });
});
