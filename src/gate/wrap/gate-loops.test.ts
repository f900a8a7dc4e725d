import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { before, plugin, refusalOf, wrapEcho } from '../../../test/support/gate-tools.ts';
import { deferred } from '../../../test/support/sample-call.ts';
import { createGate } from '../../compose/create-gate.ts';
import { HISTORY_LENGTH } from '../../domain/call/attempt.ts';
import { defineHooks } from '../hooks/define-hooks.ts';
import type { Gate } from './create-gate.ts';
import type { GateBlocked } from './gate-blocked.ts';
import type { GateOptions, WrapOptions } from './gate-options.ts';
import { adviceOf } from './add-advice.ts';
import { createRunMemory, createSessionMemories } from './run-memory.ts';

/** Makes `count` calls and returns how each of them ended: `ran`, `warned`, or the code of its refusal. */
async function callMany(count: number, call: (number: number) => unknown): Promise<string[]> {
  const endings: string[] = [];
  for (let number = 1; number <= count; number += 1) {
    try {
      const result = await call(number);
      endings.push(
        /\n\n(?:You have called box\.say|Your last runs have repeated)/.test(String(result)) ? 'warned' : 'ran',
      );
    } catch (error) {
      endings.push((error as { code?: string }).code ?? (error as Error).message);
    }
  }
  return endings;
}
const firstOf = (endings: readonly string[], ending: string): number => endings.indexOf(ending) + 1;

function wrapSay(gate: Gate, execute: (input: object) => unknown = () => 'fine.', wrap: WrapOptions = {}) {
  return gate.wrapTool({ execute: async (input: object) => execute(input) }, { id: 'box.say', ...wrap });
}

describe('loop detection of a gate', () => {
  it('is on without any settings: warns, blocks the call, and ends the run', async () => {
    const gate = createGate();
    const say = wrapSay(gate);
    const endings = await callMany(40, () => say.execute({ x: 1 }));
    expect([firstOf(endings, 'warned'), firstOf(endings, 'LOOP_BLOCKED')]).toStrictEqual([11, 21]);
    expect(firstOf(endings, 'RUN_ENDED_BY_LOOP')).toBe(30);
    expect(endings.slice(30)).toStrictEqual(Array(10).fill('RUN_ENDED_BY_LOOP'));
    const other = gate.wrapTool({ execute: async () => 'other' }, { id: 'box.other' });
    expect(await refusalOf(other.execute())).toMatchObject({ code: 'RUN_ENDED_BY_LOOP', kind: 'blocked', by: 'ended' });
  });

  it('counts for each run alone, and is stricter after one was ended', async () => {
    const gate = createGate();
    const beside = gate.openRun();
    await callMany(31, () => wrapSay(gate).execute({ x: 1 }));
    const next = wrapSay(gate.openRun());
    expect(firstOf(await callMany(25, () => next.execute({ x: 1 })), 'LOOP_BLOCKED')).toBe(11);
    const earlier = wrapSay(beside);
    expect(firstOf(await callMany(25, () => earlier.execute({ x: 1 })), 'LOOP_BLOCKED')).toBe(21);
  });

  it('makes nothing stricter for another session, and takes identity and settings of the run', async () => {
    const policy = { loops: { agents: { calm: { repeat: { warn: 3, block: 6 } } } } };
    const gate = createGate({ policy });
    await callMany(31, () => wrapSay(gate.openRun({ session: 'of ada' })).execute({ x: 1 }));
    const ada = gate.openRun({ session: 'of ada' });
    await callMany(31, () => wrapSay(ada).execute({ x: 1 }));
    const blockedAt = async (run: Gate) =>
      firstOf(await callMany(25, () => wrapSay(run).execute({ x: 1 })), 'LOOP_BLOCKED');
    expect(await blockedAt(gate.openRun({ session: 'of ben' }))).toBe(21);
    expect(await blockedAt(gate.openRun({ session: 'of ada' }))).toBe(11);
    expect(await blockedAt(gate.openRun({ session: 'of cleo', identity: { agent: 'calm' } }))).toBe(7);
  });

  it('takes settings as data, for the agent of the gate', async () => {
    const policy = {
      loops: { default: { repeat: { warn: 2, block: 4 } }, agents: { calm: { repeat: { warn: 3, block: 6 } } } },
    };
    const blockedAt = async (options: GateOptions) => {
      const say = wrapSay(createGate(options));
      return firstOf(await callMany(8, () => say.execute({})), 'LOOP_BLOCKED');
    };
    expect(await blockedAt({ policy })).toBe(5);
    expect(await blockedAt({ policy, identity: { agent: 'calm' } })).toBe(7);
    expect(await blockedAt({ policy: { loops: { default: { enabled: false } } } })).toBe(0);
  });

  it('is not misled by ids and times in results, and sees progress', async () => {
    let count = 0;
    const volatile = wrapSay(createGate(), () => ({
      at: new Date(Date.now() + (count += 1)).toISOString(),
      state: 'up',
    }));
    expect(firstOf(await callMany(25, () => volatile.execute({})), 'LOOP_BLOCKED')).toBe(21);
    const growing = wrapSay(createGate(), () => ({ done: (count += 1) }));
    expect(await callMany(25, () => growing.execute({}))).not.toContain('LOOP_BLOCKED');
    const declared = wrapSay(createGate(), () => ({ done: 1, noise: `word${(count += 1)}` }), { progress: ['/done'] });
    expect(firstOf(await callMany(25, () => declared.execute({})), 'LOOP_BLOCKED')).toBe(21);
  });

  it('counts unreadable results as progress', async () => {
    const opaque = wrapSay(createGate(), () => ({ big: 10n }));
    expect(await callMany(30, () => opaque.execute({}))).toStrictEqual(Array(30).fill('ran'));
    const nothing = wrapSay(createGate(), () => undefined);
    expect(firstOf(await callMany(30, () => nothing.execute({})), 'LOOP_BLOCKED')).toBe(21);
  });

  it('sees through a nonce in the arguments, for any length of the circle', async () => {
    for (const [period, blockedAt] of [
      [1, 21],
      [2, 21],
      [5, 21],
      [8, 33],
    ] as const) {
      const say = wrapSay(createGate());
      const call = (number: number) =>
        say.execute({ text: `part ${number % period}`, requestId: randomUUID(), sentAt: Date.now() + number });
      expect(firstOf(await callMany(120, call), 'LOOP_BLOCKED')).toBe(blockedAt);
    }
  });

  it('leaves batches and pages alone, also with ids that look random, request ids, and many at once', async () => {
    const say = wrapSay(createGate(), () => ({ ok: true }));
    const calls: ((number: number) => object)[] = [
      (page) => ({ query: 'x', page, requestId: randomUUID() }),
      () => ({ contactId: randomUUID(), reason: 'spam' }),
      () => ({ query: 'x', cursor: randomBytes(18).toString('base64url') }),
    ];
    for (const call of calls)
      expect(new Set(await callMany(200, (number) => say.execute(call(number))))).toStrictEqual(new Set(['ran']));
    const atOnce = Array.from({ length: 40 }, () => say.execute({ text: 'x', nonce: randomUUID() }));
    expect(await Promise.all(atOnce)).toHaveLength(40);
  });

  it('counts over the runs of a session: a new run for every nine calls does not evade it', async () => {
    const gate = createGate();
    let say = wrapSay(gate);
    const endings = await callMany(180, (number) => {
      if (number % 9 === 1) say = wrapSay(gate.openRun());
      return say.execute({ x: 1 });
    });
    expect([firstOf(endings, 'warned'), firstOf(endings, 'LOOP_BLOCKED')]).toStrictEqual([27, 53]);
    // In each of the 14 later runs the first two calls still run: the second one may be meant to check the result of the first.
    expect(endings.slice(54).filter((ending) => ending === 'ran')).toHaveLength(28);
    const other = wrapSay(gate.openRun());
    expect(await callMany(5, (number) => other.execute({ x: `other ${number}` }))).toStrictEqual(Array(5).fill('ran'));
    const stranger = wrapSay(gate.openRun({ session: 'of another' }));
    expect(await callMany(9, () => stranger.execute({ x: 1 }))).toStrictEqual(Array(9).fill('ran'));
  });

  it('lets many conversations of one session make the same call twice', async () => {
    const gate = createGate();
    for (let conversation = 0; conversation < 100; conversation += 1) {
      const say = wrapSay(gate.openRun());
      expect(await callMany(2, () => say.execute({ x: 1 }))).toStrictEqual(['ran', 'ran']);
    }
  });

  it('warns after 50 identical calls whose results differ, blocks after 200, and ends no run', async () => {
    let count = 0;
    const say = wrapSay(createGate(), () => `result ${(count += 1)}`);
    const endings = await callMany(260, () => say.execute({}));
    expect(endings.flatMap((ending, index) => (ending === 'warned' ? [index + 1] : []))).toStrictEqual([51, 101, 151]);
    expect(endings.slice(200)).toStrictEqual(Array(60).fill('LOOP_BLOCKED'));
    expect(await say.execute({ other: true })).toBe('result 201');
    const polled = wrapSay(createGate(), () => `result ${(count += 1)}`, { poll: { everyMs: 1 } });
    expect(new Set(await callMany(260, () => polled.execute({})))).toStrictEqual(new Set(['ran']));
  });

  it('warns when the same target is written again and again with other contents, and never blocks that', async () => {
    const write = createGate().wrapTool(
      { execute: async (_input: object) => 'written' },
      { id: 'files.write', effect: 'idempotent' },
    );
    const told = async (call: (number: number) => object): Promise<number[]> => {
      const results: string[] = [];
      for (let number = 1; number <= 60; number += 1) results.push(await write.execute(call(number)));
      return results.flatMap((result, index) => (result.includes('the same target') ? [index + 1] : []));
    };
    expect(await told((number) => ({ path: `${number}.md`, text: `version ${number}` }))).toStrictEqual([]);
    expect(await told((number) => ({ path: 'a.md', text: `version ${number}` }))).toStrictEqual([11, 21, 31, 41, 51]);
  });

  it('compares results of more than a mebibyte like all others', async () => {
    const large = (text: string) => `${text}${'word '.repeat(300_000)}`;
    const blockedAt = async (result: (call: number) => unknown) => {
      let call = 0;
      const say = wrapSay(createGate(), () => result((call += 1)));
      return firstOf(await callMany(25, () => say.execute({})), 'LOOP_BLOCKED');
    };
    expect(await blockedAt(() => large('the same'))).toBe(21);
    expect(await blockedAt(() => ({ state: 'idle', log: large('the same') }))).toBe(21);
    expect(await blockedAt((call) => large(`line ${call}`))).toBe(0);
    expect(await blockedAt((call) => ({ done: call, log: large('') }))).toBe(0);
  });

  it('judges what hooks made of the arguments', async () => {
    const hooks = [plugin(before(() => ({ params: { x: 'always' } })))];
    const run = wrapEcho({ hooks });
    const endings = await callMany(25, (number) => run({ x: number }));
    expect(firstOf(endings, 'LOOP_BLOCKED')).toBe(21);
  });

  it('stops the same failure with other arguments; errors stay what the tool threw, and adviceOf has the advice', async () => {
    class DiskFull extends Error {
      readonly disk = 'a';
    }
    const original = new DiskFull('no space left');
    Object.freeze(original);
    const failing = wrapSay(createGate(), () => {
      throw original;
    });
    const advice: unknown[] = [];
    for (let call = 1; call <= 20; call += 1) {
      expect(await refusalOf(failing.execute({ call }))).toBe(original);
      advice.push(adviceOf(original));
    }
    expect(advice.findIndex((text) => text !== undefined) + 1).toBe(11);
    expect(advice[10]).toMatch(/box\.say/);
    // The call after the warning threw the same object without a new warning, so the old advice was removed.
    expect(advice[11]).toBeUndefined();
    expect(original.message).toBe('no space left');
    expect(await refusalOf(failing.execute({ call: 21 }))).toMatchObject({ code: 'LOOP_BLOCKED', by: 'same-failure' });
  });

  it.each([
    ['isError', { isError: true, content: [] }],
    ['is_error', { is_error: true }],
    ['an exit code', { exitCode: 1 }],
    ['an exit code in details', { content: [], details: { exit_code: 2 } }],
    ['an exit code in structuredContent', { structuredContent: { exitCode: 1 } }],
  ])('counts a result that reports a failure by %s', async (_shape, result) => {
    const failing = wrapSay(createGate(), () => result);
    const endings = await callMany(40, (call) => failing.execute({ call }));
    expect(firstOf(endings, 'LOOP_BLOCKED')).toBe(21);
  });

  it('counts calls that are refused: by rules, hooks, or for arguments that cannot be checked', async () => {
    const ruled = wrapEcho({ policy: { rules: [{ id: 'no', verdict: 'deny' }] } });
    const hooked = wrapEcho({ hooks: [plugin(before(() => ({ block: true, reason: 'No.' })))] });
    const odd = wrapEcho({ hooks: [plugin(before(() => ({})))] });
    for (const call of [() => ruled({}), () => hooked({}), () => odd({ at: new Date(0) })])
      expect(firstOf(await callMany(25, call), 'LOOP_BLOCKED')).toBe(21);
  });

  it('sees calls that are still under way', async () => {
    const open = deferred();
    const slow = wrapSay(createGate(), () => open.promise);
    const running = Array.from({ length: 20 }, () => slow.execute({}).then(String, (error: Error) => error.name));
    open.resolve();
    expect((await Promise.all(running)).indexOf('GateBlocked') + 1).toBe(17);
  });

  it('leaves the input of a tool that nothing else is for as it is', async () => {
    const seen: unknown[] = [];
    const say = wrapSay(createGate(), (input) => seen.push(input));
    const input = { at: new Date(), back: undefined as unknown };
    input.back = input;
    await say.execute(input);
    expect(seen[0]).toBe(input);
  });
});

describe('budgets of a gate', () => {
  const budgeted = (budgets: object) => createGate({ policy: { loops: { default: { enabled: false, budgets } } } });

  it('hold for calls, calls of a tool and cost', async () => {
    const calls = wrapSay(budgeted({ callsPerRun: 2 }));
    expect(await callMany(3, (x) => calls.execute({ x }))).toStrictEqual(['ran', 'ran', 'BUDGET_SPENT']);
    const ofTool = wrapSay(budgeted({ callsPerTool: { 'box.*': 1 } }));
    expect(await callMany(2, (x) => ofTool.execute({ x }))).toStrictEqual(['ran', 'BUDGET_SPENT']);
    const cost = wrapSay(budgeted({ cost: 1 }), () => 'fine', { cost: 0.5 });
    expect(await callMany(3, (x) => cost.execute({ x }))).toStrictEqual(['ran', 'ran', 'BUDGET_SPENT']);
  });

  it('refuse what is no cost, cadence or list where a tool is wrapped, and ignore it in the tool itself', async () => {
    const gate = budgeted({ cost: 1 });
    expect(() => wrapSay(gate, () => 1, { cost: -1 })).toThrow(/^cost of a tool/);
    expect(() => wrapSay(gate, () => 1, { poll: { everyMs: 0 } })).toThrow(/^poll of a tool/);
    const foreign = gate.wrapTool({ name: 'x', cost: 'high', poll: true, execute: async () => 1 });
    expect(await callMany(3, () => foreign.execute())).toStrictEqual(['ran', 'ran', 'ran']);
  });
});

describe('advice', () => {
  const policy = { loops: { default: { repeat: { warn: 1, block: 9 } } } };
  const second = async (result: unknown, options: GateOptions = {}): Promise<unknown> => {
    const say = wrapSay(createGate({ policy, ...options }), () => result);
    expect(await say.execute({})).toBe(result);
    return say.execute({});
  };
  const advice = expect.stringMatching(/box\.say/) as string;

  it('reaches the model with texts, lists of texts, content blocks and objects', async () => {
    expect(await second('hello')).toMatch(/^hello\n\n.*box\.say/s);
    expect(await second(['a'])).toStrictEqual(['a', advice]);
    const block = { type: 'text', text: 'a' };
    expect(await second([block])).toStrictEqual([block, { type: 'text', text: advice }]);
    expect(await second({ content: [block], isError: false })).toStrictEqual({
      content: [block, { type: 'text', text: advice }],
      isError: false,
    });
    expect(await second({ x: 1 })).toStrictEqual({ x: 1, advice });
  });

  it('is next to the reason of calls that a hook blocks, a rule denies or that cannot be checked, in calls 11 to 20', async () => {
    const deny = { id: 'never', verdict: 'deny', arguments: [{ at: '/to', equals: 'the enemy' }] } as const;
    const told: unknown[] = [];
    const hooks = defineHooks({
      id: 'post',
      hooks: [
        {
          id: 'guard',
          on: 'before_tool_call',
          run: (call) => (call.arguments['to'] === 'ben' ? { block: true, reason: 'Not ben.' } : undefined),
        },
        { id: 'observer', on: 'after_tool_call', run: ({ outcome }) => void told.push(outcome.advice) },
      ],
    });
    const gate = createGate({ policy: { rules: [deny] }, hooks: [hooks] });
    for (const [input, code] of [
      [{ to: 'ben' }, 'HOOK_BLOCKED'],
      [{ to: 'the enemy' }, 'RULE_DENIED'],
      [{ to: 10n }, 'ARGUMENTS_INVALID'],
    ] as const) {
      told.length = 0;
      const say = wrapSay(gate.openRun({ session: code }));
      const refusals: GateBlocked[] = [];
      for (let number = 1; number <= 20; number += 1)
        refusals.push((await refusalOf(say.execute(input))) as GateBlocked);
      expect(refusals.map((refusal) => refusal.code)).toStrictEqual(Array(20).fill(code));
      const advised = refusals.flatMap((refusal, index) => (refusal.advice === undefined ? [] : [index + 1]));
      // Call 11 follows ten equal failures or calls. Call 16 follows 15 failures in a row, which count whatever they were.
      expect(advised).toStrictEqual([11, 16]);
      expect(refusals[10]!.advice).toMatch(/^box\.say has failed 10 times|^You have called box\.say 10 times/);
      expect(refusals[10]!.message).toBe(`${refusals[9]!.message}\n\n${refusals[10]!.advice}`);
      expect(adviceOf(refusals[10])).toBeUndefined();
      await vi.waitFor(() => expect(told).toHaveLength(20));
      expect(told[10]).toBe(refusals[10]!.advice);
    }
  });

  it('leaves every other result unchanged, unless addAdvice is given', async () => {
    for (const result of [7, null, [], [1], new Map(), { advice: 'own' }]) expect(await second(result)).toBe(result);
    const addAdvice = (result: unknown, text: string) => [result, text];
    expect(await second(7, { addAdvice })).toStrictEqual([7, advice]);
  });

  it('is one more update of a tool that streams', async () => {
    const gate = createGate({ policy });
    const stream = gate.wrapTool(
      {
        async *execute(_input: object) {
          yield 'half';
          yield 'whole';
        },
      },
      { id: 'box.say' },
    );
    const read = async () => {
      const updates: string[] = [];
      for await (const update of stream.execute({})) updates.push(update);
      return updates;
    };
    expect(await read()).toStrictEqual(['half', 'whole']);
    expect(await read()).toStrictEqual(['half', 'whole', expect.stringMatching(/^whole\n\n/) as string]);
  });
});

describe('the memory of a run', () => {
  it('forgets the session that was not used for longest', () => {
    const memories = createSessionMemories();
    const first = memories.of('first');
    const second = memories.of('second');
    for (let session = 0; session < 9999; session += 1) memories.of(`s${session}`);
    expect(memories.of('second')).toBe(second);
    expect(memories.of('first')).not.toBe(first);
  });

  it('keeps the newest attempts and counts further tools together', () => {
    let now = 0;
    const memory = createRunMemory({ loopEnds: [] }, () => now);
    const begin = (call: number) => {
      now = call;
      const open = memory.begin(`box.tool${call}`, '{}');
      open.end({ ending: 'ok', result: 'abcdefgh', cost: 1 });
      return open;
    };
    for (let call = 1; call <= 3000; call += 1) begin(call);
    const { history, state } = begin(3001);
    expect(history).toHaveLength(HISTORY_LENGTH);
    expect([history.at(0), history.at(HISTORY_LENGTH - 1)]).toEqual([2873, 3000]);
    // Only the first 1000 tools have a counter of their own; the calls of the other 2001 share one.
    expect(state).toMatchObject({ sequence: 3001, toolSequence: 2001, cost: 3000 });
  });

  it('begins anew when the rest after a loop is over, which calls in between do not prolong', () => {
    let now = 1000;
    const session = { loopEnds: [] };
    const memory = createRunMemory(session, () => now);
    memory.begin('box.say', '{}').end({ ending: 'ok', cost: 3 });
    memory.begin('box.say', '{}').end({ ending: 'blocked', cost: 0, endsRun: { restMs: 600 } });
    for (now = 1001; now < 1600; now += 1) {
      const open = memory.begin('box.say', '{}');
      open.end({ ending: 'blocked', cost: 0, endsRun: { restMs: 600 } });
      expect([open.inEndedRun, open.history.length]).toStrictEqual([true, 1]);
    }
    const { inEndedRun, history, state } = memory.begin('box.say', '{}');
    expect([inEndedRun, history.length]).toStrictEqual([false, 0]);
    expect(state).toStrictEqual({ sequence: 1, toolSequence: 1, startedAt: 1600, cost: 0, loopEnds: [1000] });
    expect(session.loopEnds).toStrictEqual([1000]);
  });

  it('is not changed by a call of before the end that ends later', () => {
    let now = 0;
    const memory = createRunMemory({ loopEnds: [] }, () => now);
    const late = memory.begin('box.say', '{}');
    memory.begin('box.say', '{}').end({ ending: 'blocked', cost: 0, endsRun: { restMs: 10 } });
    now = 10;
    memory.begin('box.say', '{}');
    late.end({ ending: 'blocked', cost: 5, endsRun: { restMs: 10 } });
    const { inEndedRun, state } = memory.begin('box.say', '{}');
    expect([inEndedRun, state.cost, state.sequence]).toStrictEqual([false, 0, 2]);
  });
});
