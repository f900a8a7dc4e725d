import { describe, expect, it } from 'vitest';
import { deferred } from '../../../test/support/sample-call.ts';
import { recordingNeeds } from '../../../test/support/sample-hooks.ts';
import { createGate } from '../../compose/create-gate.ts';
import type { ApprovalDecision } from '../../domain/approval.ts';
import { HISTORY_LENGTH } from '../../domain/attempt.ts';
import type { ApprovalRequest, Ask, BeforeAnswer } from '../../domain/hook.ts';
import { defineHooks, type HookDefinition } from '../hooks/define-hooks.ts';
import type { GateOptions } from './create-gate.ts';
import type { GateApprover, GateLoops, GateQuestion, GateRules, LoopQuestion } from './gate-parts.ts';

const plugin = (...hooks: Omit<HookDefinition, 'id'>[]) =>
  defineHooks({ id: 'g', hooks: hooks.map((hook, index) => ({ id: `h${index + 1}`, ...hook }) as HookDefinition) });
const before = (run: () => BeforeAnswer | Promise<BeforeAnswer>) => ({ on: 'before_tool_call' as const, run });
const asking = (requireApproval: ApprovalRequest = {}) => before(() => ({ requireApproval }));

type Wrapped = (input: object, options?: { abortSignal: AbortSignal }) => Promise<unknown>;
/** A tool that gives back what it runs with. */
function wrap(options: GateOptions): Wrapped {
  const execute = async (input: object, _options?: object): Promise<unknown> => input;
  return createGate({ session: 'session-1', ...options }).wrapTool({ name: 'echo', execute }).execute;
}
const refusalOf = (running: Promise<unknown>): Promise<unknown> =>
  running.then(
    () => expect.fail('it ran'),
    (error: unknown) => error,
  );

describe('rules of a gate', () => {
  const ruleAsk: Ask = { asker: { kind: 'rule', id: 'big', digest: 'd', grantable: true }, reason: 'It is big.' };
  const rules: GateRules = {
    decide: ({ arguments: { size } }) => {
      if (size === 0) return { verdict: 'deny', rule: 'none', reason: 'Nothing is not allowed.' };
      return Number(size) > 10 ? { verdict: 'ask', asks: [ruleAsk] } : { verdict: 'allow' };
    },
  };

  it('deny before any hook is asked', async () => {
    const run = wrap({ rules, hooks: [plugin(before(() => expect.fail('asked')))] });
    expect(await refusalOf(run({ size: 0 }))).toMatchObject({
      code: 'RULE_DENIED',
      kind: 'denied',
      message: 'Nothing is not allowed.',
      by: 'none',
    });
    expect(await wrap({ rules })({ size: 1 })).toStrictEqual({ size: 1 });
  });

  it('are asked again about what hooks made of the arguments', async () => {
    expect(
      await refusalOf(wrap({ rules, hooks: [plugin(before(() => ({ patch: { size: 0 } })))] })({ size: 1 })),
    ).toMatchObject({
      code: 'RULE_DENIED',
    });
    const asked: GateQuestion[] = [];
    const approver = approving('allow-once', asked);
    const grown = wrap({ rules, approver, hooks: [plugin(before(() => ({ patch: { size: 50 } })))] });
    expect(await grown({ size: 1 })).toStrictEqual({ size: 50 });
    expect(asked).toMatchObject([{ arguments: { size: 50 }, reasons: ['It is big.'] }]);
    const shrunk = wrap({ rules, hooks: [plugin(before(() => ({ patch: { size: 5 } })))] });
    expect(await shrunk({ size: 50 })).toStrictEqual({ size: 5 });
  });

  it('and hooks that ask make one question together', async () => {
    const asked: GateQuestion[] = [];
    const hooks = [plugin(asking({ reason: 'I want to look.', severity: 'critical', decisions: ['allow-once'] }))];
    await wrap({ rules, hooks, approver: approving('allow-once', asked) })({ size: 11 });
    expect(asked).toMatchObject([
      {
        reasons: ['It is big.', 'I want to look.'],
        severity: 'critical',
        decisions: ['allow-once', 'deny'],
        grantable: false,
      },
    ]);
  });
});

function approving(decision: ApprovalDecision | null, asked: GateQuestion[] = []): GateApprover {
  return {
    request: (question) => (asked.push(question), { id: 'question-1' }),
    wait: (id) => Promise.resolve({ id, decision }),
  };
}

describe('approval', () => {
  it('is asked for in two steps, and waits for the id it was given', async () => {
    const steps: unknown[] = [];
    const approver: GateApprover = {
      request: (question) => (steps.push(['request', question.tool]), { id: 'server-made' }),
      wait: (id) => (steps.push(['wait', id]), Promise.resolve({ id, decision: 'allow-once' })),
    };
    expect(await wrap({ approver, hooks: [plugin(asking())] })({ x: 1 })).toStrictEqual({ x: 1 });
    expect(steps).toStrictEqual([
      ['request', 'echo'],
      ['wait', 'server-made'],
    ]);
  });

  it('shows, binds and runs the rewritten arguments, which are applied only on a yes', async () => {
    const asked: GateQuestion[] = [];
    const hooks = [
      plugin(before(() => ({ patch: { x: 2 }, requireApproval: { reason: 'changed', grantable: true } }))),
    ];
    expect(await wrap({ hooks, approver: approving('allow-always', asked) })({ x: 1 })).toStrictEqual({ x: 2 });
    expect(asked[0]).toMatchObject({ arguments: { x: 2 }, binding: expect.stringMatching(/^[0-9a-f]{64}$/) as string });
    expect(Object.isFrozen(asked[0]!.arguments)).toBe(true);
    await refusalOf(wrap({ hooks, approver: approving('deny', asked) })({ x: 3 }));
    expect(asked[1]!.binding).toBe(asked[0]!.binding);
    await refusalOf(wrap({ hooks: [plugin(asking())], approver: approving('deny', asked) })({ x: 3 }));
    expect(asked[2]!.binding).not.toBe(asked[0]!.binding);
  });

  it('is not asked for when a hook blocks', async () => {
    const approver: GateApprover = { request: () => expect.fail('asked'), wait: () => expect.fail('waited') };
    const hooks = [
      plugin(
        asking(),
        before(() => ({ block: true, reason: 'No.', requireApproval: {} })),
      ),
    ];
    expect(await refusalOf(wrap({ approver, hooks })({}))).toMatchObject({ code: 'HOOK_BLOCKED', message: 'No.' });
  });

  const never = (): Promise<never> => new Promise(() => {});
  const noWait = (): never => expect.fail('waited');
  it.each<[string, GateApprover | undefined, string, string]>([
    ['denied', approving('deny'), 'APPROVAL_DENIED', 'deny'],
    ['not decided in time', approving(null), 'APPROVAL_EXPIRED', 'timeout'],
    ['never answered', { request: () => ({ id: 'q' }), wait: never }, 'APPROVAL_EXPIRED', 'timeout'],
    ['never registered', { request: never, wait: noWait }, 'APPROVAL_EXPIRED', 'timeout'],
    ['for nobody', { request: () => ({ id: 'q', decision: null }), wait: noWait }, 'APPROVAL_NO_ROUTE', 'cancelled'],
    ['without anybody configured', undefined, 'APPROVAL_NO_ROUTE', 'cancelled'],
    ['without an id', { request: () => ({ id: '' }), wait: noWait }, 'APPROVAL_NOT_ASKED', 'cancelled'],
    [
      'without an answer at all',
      { request: () => undefined as never, wait: noWait },
      'APPROVAL_NOT_ASKED',
      'cancelled',
    ],
    [
      'refused by the service',
      {
        request: () => {
          throw new Error('down');
        },
        wait: noWait,
      },
      'APPROVAL_UNAVAILABLE',
      'cancelled',
    ],
    [
      'lost on the way',
      { request: () => ({ id: 'q' }), wait: () => Promise.reject(new Error('gone')) },
      'APPROVAL_UNAVAILABLE',
      'cancelled',
    ],
    [
      'answered for another question',
      { request: () => ({ id: 'q' }), wait: () => Promise.resolve({ id: 'p', decision: 'allow-once' }) },
      'APPROVAL_MISMATCH',
      'cancelled',
    ],
    ['answered with what was not offered', approving('allow-always'), 'APPROVAL_MALFORMED', 'cancelled'],
    ['answered with no known word', approving('yes' as never), 'APPROVAL_MALFORMED', 'cancelled'],
    [
      'answered at once with no known word',
      { request: () => ({ id: 'q', decision: 'ok' as never }), wait: noWait },
      'APPROVAL_MALFORMED',
      'cancelled',
    ],
  ])(
    'that is %s does not let the call run, with its own code and resolution',
    async (_how, approver, code, resolution) => {
      const resolved = deferred<{ resolution: string; callId: string }>();
      const telling = { on: 'approval_resolved' as const, run: (event: never) => resolved.resolve(event) };
      const hooks = [plugin(asking({ timeoutMs: 20, decisions: ['allow-once', 'deny'] }), telling as never)];
      const needs = recordingNeeds();
      const refusal = await refusalOf(
        wrap({ hooks, log: needs.log, ...(approver === undefined ? {} : { approver }) })({}),
      );
      expect(refusal).toMatchObject({ name: 'GateBlocked', code, kind: 'denied' });
      expect((refusal as Error).message).toMatch(/It did not run\. This is final/);
      expect(await resolved.promise).toMatchObject({ resolution, tool: 'echo', askers: [{ id: 'g.h1' }] });
    },
  );

  it('can be answered at once, and is then not waited for', async () => {
    const approver: GateApprover = { request: () => ({ id: 'q', decision: 'allow-once' }), wait: noWait };
    expect(await wrap({ approver, hooks: [plugin(asking())] })({ x: 1 })).toStrictEqual({ x: 1 });
  });

  it('is given up at once when the caller stops, and the question is withdrawn', async () => {
    const waiting = deferred<AbortSignal>();
    const approver: GateApprover = {
      request: () => ({ id: 'q' }),
      wait: (_id, { signal }) => (waiting.resolve(signal), new Promise(() => {})),
    };
    const controller = new AbortController();
    const resolutions: string[] = [];
    const told = {
      on: 'approval_resolved' as const,
      run: ({ resolution }: { resolution: string }) => void resolutions.push(resolution),
    };
    const running = wrap({ approver, hooks: [plugin(asking(), told as never)] })(
      {},
      { abortSignal: controller.signal },
    );
    const signal = await waiting.promise;
    controller.abort('not an error');
    expect(await refusalOf(running)).toMatchObject({ code: 'APPROVAL_ABORTED', kind: 'cancelled' });
    expect([signal.aborted, signal.reason]).toStrictEqual([true, 'not an error']);
    expect(resolutions).toStrictEqual(['cancelled']);
  });

  it('does not wait for those who are told how it ended, and tells them once', async () => {
    let told = 0;
    const hanging = { on: 'approval_resolved' as const, run: () => ((told += 1), new Promise(() => {})) };
    const hooks = [plugin(asking(), hanging as never)];
    expect(await wrap({ hooks, approver: approving('allow-once') })({ x: 1 })).toStrictEqual({ x: 1 });
    expect(told).toBe(1);
  });
});

describe('loop detection of a gate', () => {
  /** Blocks the third call with the same arguments, warns at the second. */
  function countingLoops(asked: LoopQuestion[] = []): GateLoops {
    return {
      judge(question) {
        asked.push(question);
        const { history, attempt } = question;
        const same = history.filter(({ raw }) => raw === attempt.raw).length;
        if (same >= 2) return { kind: 'block', code: 'LOOP_BLOCKED', message: 'You are going round in circles.' };
        return same === 1 ? { kind: 'warn', message: 'This is the second time.' } : { kind: 'pass' };
      },
      endOf: ({ kind, error }) => ({
        ending:
          kind === 'ok' ? 'ok' : error?.code === 'LOOP_BLOCKED' ? 'blocked' : kind === 'blocked' ? 'refused' : 'failed',
        result: kind,
      }),
    };
  }

  it('sees every attempt of its run, and of no other', async () => {
    const asked: LoopQuestion[] = [];
    const gate = createGate({ loops: countingLoops(asked) });
    const definition = { name: 'echo', execute: async (input: object) => input };
    const one = gate.wrapTool(definition);
    await one.execute({ x: 1 });
    await one.execute({ x: 1 });
    expect(await refusalOf(one.execute({ x: 1 }))).toMatchObject({ code: 'LOOP_BLOCKED', kind: 'blocked' });
    expect(await refusalOf(one.execute({ x: 1 }))).toMatchObject({ message: 'You are going round in circles.' });
    expect(asked.at(-1)!.history.map(({ ending, result }) => `${ending} ${result}`)).toStrictEqual([
      'ok ok',
      'ok ok',
      'blocked blocked',
    ]);
    expect(asked.at(-1)!.run).toMatchObject({ sequence: 4, toolSequence: 4 });
    await gate.openRun().wrapTool(definition).execute({ x: 1 });
    expect(asked.at(-1)!.history).toStrictEqual([]);
  });

  it('gives its advice to the model with results that are text, or where it is told to', async () => {
    const text = createGate({ loops: countingLoops() }).wrapTool({ name: 'say', execute: async () => 'hello' });
    await text.execute();
    expect(await text.execute()).toBe('hello\n\nThis is the second time.');
    const addAdvice = (result: unknown, advice: string) => ({ ...(result as object), advice });
    const object = createGate({ loops: countingLoops(), addAdvice }).wrapTool({
      name: 'get',
      execute: async () => ({ x: 1 }),
    });
    await object.execute();
    expect(await object.execute()).toStrictEqual({ x: 1, advice: 'This is the second time.' });
  });

  it('is asked again with the effective arguments, and one record keeps both', async () => {
    const asked: LoopQuestion[] = [];
    const hooks = [plugin(before(() => ({ patch: { y: 2 } })))];
    const run = wrap({ loops: countingLoops(asked), hooks });
    await run({ x: 1 });
    await run({ x: 1 });
    expect(asked).toHaveLength(4);
    const [, second, , fourth] = asked;
    expect(second!.attempt.effective).toMatch(/^[\w-]{8}$/);
    expect(fourth!.history).toMatchObject([
      { raw: second!.attempt.raw, effective: second!.attempt.effective, ending: 'ok' },
    ]);
  });

  it('sees calls that are still under way', async () => {
    const asked: LoopQuestion[] = [];
    const open = deferred();
    const gate = createGate({ loops: countingLoops(asked) });
    const wrapped = gate.wrapTool({ name: 'slow', execute: async () => open.promise });
    const first = wrapped.execute();
    const second = wrapped.execute();
    expect(asked[1]!.history).toMatchObject([{ ending: 'open' }]);
    open.resolve();
    await Promise.all([first, second]);
  });

  it('remembers a bounded number of attempts, the newest', async () => {
    const asked: LoopQuestion[] = [];
    const run = wrap({
      loops: { ...countingLoops(asked), judge: (question) => (asked.push(question), { kind: 'pass' }) },
    });
    for (let call = 0; call < HISTORY_LENGTH + 5; call += 1) await run({ call });
    const { history, run: state } = asked.at(-1)!;
    expect(history).toHaveLength(HISTORY_LENGTH);
    expect(history.at(-1)!.sequence).toBe(HISTORY_LENGTH + 4);
    expect(state.sequence).toBe(HISTORY_LENGTH + 5);
  });

  it('that cannot record an outcome does not change the result', async () => {
    const needs = recordingNeeds();
    const loops: GateLoops = {
      judge: () => ({ kind: 'pass' }),
      endOf: () => {
        throw new Error('broken');
      },
    };
    expect(await wrap({ loops, log: needs.log })({ x: 1 })).toStrictEqual({ x: 1 });
    expect(needs.lines).toMatchObject([{ level: 'error', message: 'an outcome was not recorded' }]);
  });
});
