import { describe, expect, it } from 'vitest';
import { deferred } from '../../../test/support/sample-call.ts';
import { hookedCall, hookSet, recordingNeeds } from '../../../test/support/sample-hooks.ts';
import type { AfterToolCall, ApprovalResolved } from '../../domain/policy/hook.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { EndedCall } from '../../domain/ports/gate-hooks.ts';
import { createObserverQueue, OBSERVER_BOUNDS } from './observer-queue.ts';
import { runAfterHooks, runResolvedHooks } from './run-after-hooks.ts';

const OK: Outcome = {
  kind: 'ok',
  executed: 'yes',
  retryable: false,
  content: [
    { kind: 'text', text: 'done' },
    { kind: 'image', mediaType: 'image/png', bytes: new Uint8Array(7) },
  ],
  structured: { files: 1 },
};
const ended = (overrides: Partial<EndedCall> = {}): EndedCall => {
  const { canonical: _, ...call } = hookedCall({ trace: '00-a-b-01', arguments: { path: '/effective' } });
  return {
    ...call,
    changedBy: [{ hook: 'p.h', digest: 'd', at: ['/path'] }],
    outcome: OK,
    durationMs: 12.3456,
    ...overrides,
  };
};

describe('hooks after a call', () => {
  it('are invoked once each with effective arguments, structured outcome, id and duration, as frozen copies', async () => {
    const seen: AfterToolCall[] = [];
    const run = (event: unknown) => void seen.push(event as AfterToolCall);
    const set = hookSet({ id: 'a', on: 'after_tool_call', run }, { id: 'b', on: 'after_tool_call', run });
    const queue = createObserverQueue(recordingNeeds());
    const call = ended();
    runAfterHooks(set, call, queue);
    // The hooks have not run yet: they start in a later turn of the event loop, so that they do not delay the call.
    expect(seen).toStrictEqual([]);
    expect(await queue.idle(1000)).toBe(true);
    expect(seen).toHaveLength(2);
    expect(seen[0]).toStrictEqual({
      callId: 'call-1',
      session: 'session-1',
      run: 'run-1',
      identity: { tenant: 'default', subject: 'ada', agent: 'assistant' },
      trace: '00-a-b-01',
      tool: 'files.write',
      effect: 'unsafe',
      privileged: false,
      arguments: { path: '/effective' },
      changedBy: [{ hook: 'p.h', digest: 'd', at: ['/path'] }],
      outcome: {
        kind: 'ok',
        executed: 'yes',
        retryable: false,
        content: [
          { kind: 'text', text: 'done' },
          { kind: 'image', mediaType: 'image/png', bytes: 7 },
        ],
        structured: { files: 1 },
      },
      durationMs: 12.346,
    });
    expect(seen[1]).toStrictEqual(seen[0]);
    expect(seen[1]!.arguments).not.toBe(seen[0]!.arguments);
    expect(Object.isFrozen(seen[0]!.outcome.content[0])).toBe(true);
  });

  it('of other tools and other events are left alone', async () => {
    const run = () => expect.fail('told');
    const set = hookSet(
      { id: 'other', on: 'after_tool_call', match: { tools: ['web.*'] }, run },
      { id: 'before', on: 'before_tool_call', run },
    );
    const needs = recordingNeeds();
    const queue = createObserverQueue(needs);
    runAfterHooks(set, ended(), queue);
    expect(await queue.idle(1000)).toBe(true);
    expect(needs.lines).toStrictEqual([]);
  });

  it('that throw, reject or hang change nothing, and are counted', async () => {
    const needs = recordingNeeds();
    const set = hookSet(
      {
        id: 'throws',
        on: 'after_tool_call',
        run: () => {
          throw new Error('boom');
        },
      },
      { id: 'rejects', on: 'after_tool_call', run: () => Promise.reject(new Error('boom')) },
      { id: 'hangs', on: 'after_tool_call', timeoutMs: 5, run: () => new Promise(() => {}) },
    );
    const queue = createObserverQueue(needs);
    const call = ended();
    expect(runAfterHooks(set, call, queue)).toBeUndefined();
    expect(await queue.idle(5000)).toBe(true);
    expect(call.outcome).toBe(OK);
    expect(needs.events.map(({ hook, how }) => `${hook} ${how}`).sort()).toStrictEqual([
      'hangs timed-out',
      'rejects threw',
      'throws threw',
    ]);
    expect(set.health().map(({ failed }) => failed)).toStrictEqual([1, 1, 1]);
  });

  it('that are slow lose only their own events, which are counted', async () => {
    const needs = recordingNeeds();
    const gate = deferred();
    let atOnce = 0;
    let max = 0;
    let quick = 0;
    const set = hookSet(
      {
        id: 'slow',
        on: 'after_tool_call',
        run: async () => {
          atOnce += 1;
          max = Math.max(max, atOnce);
          await gate.promise;
          atOnce -= 1;
        },
      },
      { id: 'quick', on: 'after_tool_call', run: () => void (quick += 1) },
    );
    const queue = createObserverQueue(needs, { ...OBSERVER_BOUNDS, concurrency: 2, queued: 3 });
    const quickHook = set.hooks[1]!;
    for (let call = 0; call < 10; call += 1) {
      runAfterHooks(set, ended(), queue);
      // Waits until the quick hook has run, so that its queue never fills up. The slow hook's queue does.
      while (quickHook.meter.read().calls <= call) await new Promise(setImmediate);
    }
    expect(set.health().map(({ dropped }) => dropped)).toStrictEqual([5, 0]);
    expect(needs.lines.filter(({ level }) => level === 'warn')).toMatchObject([
      { facts: { hook: 'slow', dropped: 1 } },
    ]);
    expect(await queue.idle(1)).toBe(false);
    gate.resolve();
    expect(await queue.idle(5000)).toBe(true);
    expect([max, quick, set.health()[0]!.calls]).toStrictEqual([2, 10, 5]);
  });

  it('that wait hold a bounded amount of text', async () => {
    const gate = deferred();
    const set = hookSet({ id: 'slow', on: 'after_tool_call', run: () => gate.promise });
    const queue = createObserverQueue(recordingNeeds(), { concurrency: 1, queued: 100, queuedCharacters: 5000 });
    for (let call = 0; call < 10; call += 1)
      runAfterHooks(set, ended({ arguments: { text: 'x'.repeat(2000) } }), queue);
    gate.resolve();
    expect(await queue.idle(5000)).toBe(true);
    expect(set.health()[0]).toMatchObject({ calls: 3, dropped: 7 });
  });

  it('are not handed megabytes', async () => {
    const seen: AfterToolCall[] = [];
    const set = hookSet({ id: 'a', on: 'after_tool_call', run: (event) => void seen.push(event as AfterToolCall) });
    const queue = createObserverQueue(recordingNeeds());
    const big = 'x'.repeat(300_000);
    runAfterHooks(set, ended({ outcome: { ...OK, content: [{ kind: 'text', text: big }] } }), queue);
    runAfterHooks(set, ended({ outcome: { ...OK, structured: { big } } }), queue);
    await queue.idle(1000);
    const large = { kind: 'ok', executed: 'yes', retryable: false, content: [], truncated: true };
    expect(seen.map(({ outcome }) => outcome)).toStrictEqual([large, large]);
  });
});

describe('hooks of a resolved approval', () => {
  const approval: ApprovalResolved = {
    approvalId: '0.scope.id',
    resolution: 'allow-once',
    callId: 'call-1',
    tool: 'files.write',
    session: 'session-1',
    run: 'run-1',
    identity: { tenant: 'default', subject: 'ada', agent: 'assistant' },
    askers: [{ kind: 'hook', id: 'p.h', digest: 'd', grantable: false }],
    by: 'default/grace',
    binding: 'b',
  };
  const { tool } = hookedCall();

  it('get the resolution as a frozen copy, and one that fails does not stop the others', async () => {
    const needs = recordingNeeds();
    const seen: unknown[] = [];
    const set = hookSet(
      { id: 'bad', on: 'approval_resolved', run: () => Promise.reject(new Error('boom')) },
      { id: 'hung', on: 'approval_resolved', timeoutMs: 5, run: () => new Promise(() => {}) },
      { id: 'good', on: 'approval_resolved', run: (event) => void seen.push(event) },
      { id: 'other', on: 'approval_resolved', match: { tools: ['web.*'] }, run: () => expect.fail('told') },
    );
    await runResolvedHooks(set, tool, approval, needs);
    expect(seen).toStrictEqual([approval]);
    expect(Object.isFrozen(seen[0])).toBe(true);
    expect(needs.events.map(({ hook, on, how }) => [hook, on, how])).toStrictEqual([
      ['bad', 'approval_resolved', 'threw'],
      ['hung', 'approval_resolved', 'timed-out'],
    ]);
  });
});
