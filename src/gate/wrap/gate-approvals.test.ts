import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { approving, asking, before, plugin, refusalOf, wrapEcho } from '../../../test/support/gate-tools.ts';
import { deferred } from '../../../test/support/sample-call.ts';
import { recordingNeeds } from '../../../test/support/sample-hooks.ts';
import { createGate } from '../../compose/create-gate.ts';
import { errorOutcome } from '../../domain/errors/errors.ts';
import { endingOutcome, type ApprovalEnding } from '../approvals/endings.ts';
import type { Gate } from './create-gate.ts';
import type { GateApprover, GateQuestion } from './gate-parts.ts';

const never = (): Promise<never> => new Promise(() => {});
const noWait = (): never => expect.fail('waited');

describe('approval of a gate', () => {
  it('is asked for in two steps, and waits for the id it was given', async () => {
    const steps: unknown[] = [];
    const approver: GateApprover = {
      request: (question) => (steps.push(['request', question.tool]), { id: 'server-made' }),
      wait: (id) => (steps.push(['wait', id]), Promise.resolve({ id, decision: 'allow-once' })),
    };
    expect(await wrapEcho({ approver, hooks: [plugin(asking())] })({ x: 1 })).toStrictEqual({ x: 1 });
    expect(steps).toStrictEqual([
      ['request', 'box.echo'],
      ['wait', 'server-made'],
    ]);
  });

  it('shows, binds and runs the rewritten arguments, which are applied only on a yes', async () => {
    const asked: GateQuestion[] = [];
    const hooks = [
      plugin(before(() => ({ patch: { x: 2 }, requireApproval: { reason: 'changed', grantable: true } }))),
    ];
    expect(await wrapEcho({ hooks, approver: approving('allow-always', asked) })({ x: 1 })).toStrictEqual({ x: 2 });
    expect(asked[0]).toMatchObject({ arguments: { x: 2 }, binding: expect.stringMatching(/^[0-9a-f]{64}$/) as string });
    expect(Object.isFrozen(asked[0]!.arguments)).toBe(true);
    await refusalOf(wrapEcho({ hooks, approver: approving('deny', asked) })({ x: 3 }));
    expect(asked[1]!.binding).toBe(asked[0]!.binding);
    await refusalOf(wrapEcho({ hooks: [plugin(asking())], approver: approving('deny', asked) })({ x: 3 }));
    expect(asked[2]!.binding).not.toBe(asked[0]!.binding);
  });

  it.each(['allow-once', 'allow-always'] as const)(
    'that is answered with %s runs the call, and says so',
    async (yes) => {
      const resolved = deferred<{ resolution: string }>();
      const observer = { on: 'approval_resolved' as const, run: (event: never) => resolved.resolve(event) };
      const hooks = [plugin(asking({ grantable: true }), observer as never)];
      const { signal } = new AbortController();
      const run = wrapEcho({ hooks, approver: approving(yes) });
      expect(await run({ x: 1 }, { abortSignal: signal })).toStrictEqual({ x: 1 });
      expect(await resolved.promise).toMatchObject({ resolution: yes });
      expect(getEventListeners(signal, 'abort')).toStrictEqual([]);
    },
  );

  it('is not asked for when a hook blocks', async () => {
    const approver: GateApprover = { request: () => expect.fail('asked'), wait: noWait };
    const hooks = [
      plugin(
        asking(),
        before(() => ({ block: true, reason: 'No.', requireApproval: {} })),
      ),
    ];
    expect(await refusalOf(wrapEcho({ approver, hooks })({}))).toMatchObject({ code: 'HOOK_BLOCKED', message: 'No.' });
  });

  it('can be answered at once, and is then not waited for', async () => {
    const approver: GateApprover = { request: () => ({ id: 'q', decision: 'allow-once' }), wait: noWait };
    expect(await wrapEcho({ approver, hooks: [plugin(asking())] })({ x: 1 })).toStrictEqual({ x: 1 });
  });

  it('that is denied gives the model the reason, on one line', async () => {
    const approver: GateApprover = {
      request: () => ({ id: 'q' }),
      wait: (id) => Promise.resolve({ id, decision: 'deny', comment: 'Not on\na Friday' }),
    };
    const refusal = await refusalOf(wrapEcho({ approver, hooks: [plugin(asking())] })({}));
    expect((refusal as Error).message).toBe(
      errorOutcome('APPROVAL_DENIED', { tool: 'box.echo', comment: 'Not on a Friday' }).error!.message,
    );
  });

  it('is not asked for again after two noes to the same call, nor in an unattended run', async () => {
    const asked: GateQuestion[] = [];
    const hooks = [plugin(asking())];
    const run = wrapEcho({ hooks, approver: approving('deny', asked) });
    for (const _ of [1, 2]) expect(await refusalOf(run({ x: 1 }))).toMatchObject({ code: 'APPROVAL_DENIED' });
    const third = await refusalOf(run({ x: 1 }));
    expect(third).toMatchObject({ code: 'APPROVAL_DENIED_AT_ONCE', kind: 'denied' });
    expect((third as Error).message).toContain('the same call was denied twice in this run');
    expect(await refusalOf(run({ x: 2 }))).toMatchObject({ code: 'APPROVAL_DENIED' });
    expect(asked).toHaveLength(3);
    const approver: GateApprover = { request: () => expect.fail('asked'), wait: noWait };
    const alone = wrapEcho({ hooks, approver, policy: { unattended: ['night'] }, identity: { agent: 'night' } });
    expect(await refusalOf(alone({}))).toMatchObject({ code: 'APPROVAL_DENIED_AT_ONCE' });
  });

  it('is not asked for in a run that was opened unattended, nor in runs that it opens', async () => {
    const asked: GateQuestion[] = [];
    const gate = createGate({ hooks: [plugin(asking())], approver: approving('allow-once', asked) });
    const call = (run: Gate): Promise<unknown> =>
      run.wrapTool({ execute: async (input: object) => input }, { id: 'box.echo' }).execute({});
    const night = gate.openRun({ unattended: true });
    for (const run of [night, night.openRun(), night.openRun({ unattended: false })]) {
      const refusal = await refusalOf(call(run));
      expect(refusal).toMatchObject({ code: 'APPROVAL_DENIED_AT_ONCE', kind: 'denied' });
      expect((refusal as Error).message).toContain('the session is unattended');
    }
    expect(asked).toEqual([]);
    await call(gate.openRun());
    expect(asked).toHaveLength(1);
    expect(() => gate.openRun({ unattended: 'yes' as never })).toThrow('unattended');
    expect(() => gate.openRun({ identity: { unattended: true } as never })).toThrow('unattended');
  });

  it('that is denied at once is reported as a no, like every other', async () => {
    const resolved = deferred<{ resolution: string }>();
    const observer = { on: 'approval_resolved' as const, run: (event: never) => resolved.resolve(event) };
    const policy = { unattended: ['night'] };
    const alone = wrapEcho({ hooks: [plugin(asking(), observer)], policy, identity: { agent: 'night' } });
    await refusalOf(alone({}));
    expect(await resolved.promise).toMatchObject({ resolution: 'deny', approvalId: '', askers: [{ id: 'g.h1' }] });
  });

  it('is not asked for where those who ask offer no yes in common', async () => {
    const approver: GateApprover = { request: () => expect.fail('asked'), wait: noWait };
    const hooks = [plugin(asking({ decisions: ['deny'] }))];
    expect(await refusalOf(wrapEcho({ approver, hooks })({}))).toMatchObject({ code: 'APPROVAL_NO_ROUTE' });
  });

  it('is given up at once when the caller stops, and the question is withdrawn', async () => {
    const waiting = deferred<AbortSignal>();
    const approver: GateApprover = {
      request: () => ({ id: 'q' }),
      wait: (_id, { signal }) => (waiting.resolve(signal), never()),
    };
    const controller = new AbortController();
    const resolutions: string[] = [];
    const told = {
      on: 'approval_resolved' as const,
      run: ({ resolution }: { resolution: string }) => void resolutions.push(resolution),
    };
    const running = wrapEcho({ approver, hooks: [plugin(asking(), told as never)] })(
      {},
      { abortSignal: controller.signal },
    );
    const signal = await waiting.promise;
    controller.abort('not an error');
    expect(await refusalOf(running)).toMatchObject({ code: 'APPROVAL_ABORTED', kind: 'cancelled' });
    expect([signal.aborted, signal.reason]).toStrictEqual([true, 'not an error']);
    expect(resolutions).toStrictEqual(['cancelled']);
  });

  it('does not wait for the hooks that are notified of its end, and notifies them once', async () => {
    let told = 0;
    const hanging = { on: 'approval_resolved' as const, run: () => ((told += 1), never()) };
    const hooks = [plugin(asking(), hanging as never)];
    expect(await wrapEcho({ hooks, approver: approving('allow-once') })({ x: 1 })).toStrictEqual({ x: 1 });
    expect(told).toBe(1);
  });
});

describe('every ending of a question', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  const wait = (answer: unknown) => () => Promise.resolve(answer as never);
  it.each<[string, GateApprover | undefined, ApprovalEnding, string]>([
    ['denied', approving('deny'), 'deny', 'deny'],
    ['denied at once', { request: () => ({ id: 'q', decision: 'deny' }), wait: noWait }, 'deny', 'deny'],
    ['not decided in time', approving(null), 'timeout', 'timeout'],
    ['never answered', { request: () => ({ id: 'q' }), wait: never }, 'timeout', 'timeout'],
    ['never registered', { request: never, wait: noWait }, 'timeout', 'timeout'],
    ['for nobody', { request: () => ({ id: 'q', decision: null }), wait: noWait }, 'no-route', 'cancelled'],
    ['without anybody configured', undefined, 'no-route', 'cancelled'],
    ['without an id', { request: () => ({ id: '' }), wait: noWait }, 'no-id', 'cancelled'],
    ['without an answer at all', { request: () => undefined as never, wait: noWait }, 'no-id', 'cancelled'],
    [
      'refused by the service',
      {
        request: () => {
          throw new Error('down');
        },
        wait: noWait,
      },
      'gateway-unavailable',
      'cancelled',
    ],
    [
      'lost on the way',
      { request: () => ({ id: 'q' }), wait: () => Promise.reject(new Error('gone')) },
      'gateway-unavailable',
      'cancelled',
    ],
    [
      'answered for another question',
      { request: () => ({ id: 'q' }), wait: wait({ id: 'p', decision: 'allow-once' }) },
      'mismatch',
      'cancelled',
    ],
    ['answered with nothing', { request: () => ({ id: 'q' }), wait: wait(undefined) }, 'mismatch', 'cancelled'],
    ['answered with what was not offered', approving('allow-always'), 'malformed-decision', 'cancelled'],
    ['answered with no known word', approving('yes' as never), 'malformed-decision', 'cancelled'],
    [
      'answered at once with no known word',
      { request: () => ({ id: 'q', decision: 'ok' as never }), wait: noWait },
      'malformed-decision',
      'cancelled',
    ],
  ])('that is %s keeps the call from running, in the words of the one table', async (_how, approver, ending, word) => {
    const resolved = deferred<{ resolution: string; callId: string }>();
    const observer = { on: 'approval_resolved' as const, run: (event: never) => resolved.resolve(event) };
    const hooks = [plugin(asking({ timeoutMs: 5000, decisions: ['allow-once', 'deny'] }), observer as never)];
    const needs = recordingNeeds();
    const running = refusalOf(wrapEcho({ hooks, log: needs.log, ...(approver === undefined ? {} : { approver }) })({}));
    // Only an unanswered question waits for its timeout. All other questions end at once and must leave no timer behind.
    await vi.advanceTimersByTimeAsync(ending === 'timeout' ? 5000 : 0);
    const { kind, error } = endingOutcome(ending, { tool: 'box.echo', what: 'the question' })!;
    expect(await running).toMatchObject({ name: 'GateBlocked', code: error!.code, kind, message: error!.message });
    expect(await resolved.promise).toMatchObject({ resolution: word, tool: 'box.echo', askers: [{ id: 'g.h1' }] });
    expect(vi.getTimerCount()).toBe(0);
  });
});
