import { describe, expect, test } from 'vitest';
import { pack } from '../../../test/support/decode-history.ts';
import {
  blockedOutcome,
  fails,
  gives,
  says,
  simulateRun,
  type SimulatedCall,
} from '../../../test/support/run-simulator.ts';
import type { Attempt, RunState } from '../../domain/call/attempt.ts';
import { errorOutcome } from '../../domain/errors/errors.ts';
import { changeLoopSettings, DEFAULT_LOOP_SETTINGS, type LoopOptions } from '../../domain/policy/loop-settings.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import { detectLoop, type LoopQuestion } from './detect-loop.ts';
import { rememberAttempt } from './detect-stall.ts';
import { endOfAttempt } from './end-of-attempt.ts';
import type { LoopBlock, LoopVerdict } from '../../domain/policy/loop-verdict.ts';
import { toolTag } from '../../domain/call/history.ts';
import { signatureOf } from './signature.ts';

const NOW = 1_763_000_000_000;
const STEP_MS = 1000;

/** One attempt of the history: what was called, what came out. */
interface Past extends Partial<Attempt> {
  readonly call?: string;
  readonly toolId?: string;
  readonly outcome?: Outcome;
}

/** One attempt per second, the newest last. The newest was made one second before `NOW`. */
function historyOf(past: readonly Past[]): Attempt[] {
  return past.map(({ call = 'A', toolId = 'a.b', outcome = says('same'), ...own }, index) => ({
    sequence: index + 1,
    tool: toolTag(toolId),
    raw: signatureOf(call),
    at: NOW - (past.length - index) * STEP_MS,
    ...(own.ending === 'open' ? {} : endOfAttempt(outcome)),
    ...own,
  })) as Attempt[];
}

const times = (count: number, past: Past | ((index: number) => Past) = {}): Past[] =>
  Array.from({ length: count }, (_, index) => (typeof past === 'function' ? past(index) : past));

interface Asked extends Partial<Omit<LoopQuestion, 'settings' | 'run'>> {
  readonly call?: string;
  readonly effective?: string;
  readonly hasVolatile?: boolean;
  readonly toolId?: string;
  readonly settings?: LoopOptions;
  readonly run?: Partial<RunState>;
  readonly at?: number;
}

function ask(past: readonly Past[], asked: Asked = {}): LoopVerdict {
  const { call = 'A', toolId = 'a.b', effective, at = NOW } = asked;
  return detectLoop({
    history: pack(historyOf(past)),
    run: {
      sequence: past.length + 1,
      toolSequence: past.length + 1,
      startedAt: NOW - 1000,
      cost: 0,
      loopEnds: [],
      ...asked.run,
    },
    attempt: {
      tool: toolTag(toolId),
      raw: signatureOf(call),
      at,
      ...(effective === undefined ? {} : { effective: signatureOf(effective) }),
      ...(asked.hasVolatile === undefined ? {} : { hasVolatile: asked.hasVolatile }),
    },
    settings: changeLoopSettings(DEFAULT_LOOP_SETTINGS, asked.settings ?? {}),
    tool: asked.tool ?? { id: toolId },
  });
}

/** Kind, detector and count, the way the rows below are written. */
function shown(verdict: LoopVerdict): string {
  return verdict.kind === 'pass' ? 'pass' : `${verdict.kind} ${verdict.detector} ${verdict.count}`;
}

const poll = { id: 'a.b', poll: { everyMs: 5000 } };
const blocked = (block: Partial<LoopBlock>): Outcome =>
  blockedOutcome({
    kind: 'block',
    code: 'LOOP_BLOCKED',
    scope: 'call',
    detector: 'repeat',
    count: 20,
    message: 'No.',
    ...block,
  });

describe('repeat', () => {
  test('is nothing without a history, with 15 different calls, and when it is switched off', () => {
    expect(ask([])).toStrictEqual({ kind: 'pass' });
    expect(shown(ask(times(15, (index) => ({ call: `${index}` }))))).toBe('pass');
    expect(shown(ask(times(128), { settings: { enabled: false } }))).toBe('pass');
    expect(shown(ask(times(29), { settings: { repeat: false } }))).toBe('pass');
  });

  test.each([
    [9, 'pass'],
    [10, 'warn repeat 10'],
    [11, 'pass'],
    [19, 'pass'],
    [20, 'block repeat 20'],
    [127, 'block repeat 127'],
  ])('after %i calls with the same result: %s', (count, verdict) => {
    expect(shown(ask(times(count)))).toBe(verdict);
  });

  test('counts across other calls, for any number and results of them', () => {
    const past = times(20).flatMap((own, index) => [own, ...times(index % 4, { call: `other ${index}` })]);
    expect(shown(ask(past))).toBe('block repeat 20');
  });

  test('begins anew with another result', () => {
    expect(shown(ask([...times(18), { outcome: says('new') }]))).toBe('pass');
    expect(shown(ask([{ outcome: says('old') }, ...times(10)]))).toBe('warn repeat 10');
  });

  test('of the very same call with results that differ is warned about after 50, 100 and 150 calls, and blocked after 200', () => {
    const changing = (count: number, asked?: Asked): LoopVerdict =>
      ask(
        times(Math.min(count, 127), (index) => ({
          outcome: gives({ index }),
          tally: count - Math.min(count, 127) + index + 1,
        })),
        asked,
      );
    expect([20, 49, 50, 51, 100, 150, 199].map((count) => shown(changing(count)))).toStrictEqual([
      'pass',
      'pass',
      'warn changing 50',
      'pass',
      'warn changing 100',
      'warn changing 150',
      'pass',
    ]);
    expect(changing(50)).toMatchObject({ message: expect.stringContaining('The results differ') as string });
    expect(changing(500)).toMatchObject({ kind: 'block', scope: 'call', detector: 'changing', count: 500 });
    const free: Asked[] = [{ tool: poll }, { settings: { repeat: false } }, { at: NOW + 30_000 }];
    for (const asked of free) expect(shown(changing(200, asked))).toBe('pass');
  });

  test('of blocked calls whose results differed goes on, and does not end the run', () => {
    const past = times(127, (index) => ({ outcome: blocked({ detector: 'changing' }), tally: 300 + index }));
    expect(ask(past)).toMatchObject({ code: 'LOOP_BLOCKED', scope: 'call', count: 426 });
    expect(shown(ask(past, { call: 'B' }))).toBe('pass');
  });

  test('of what differs in volatile values counts only with the same result, and not while it is under way', () => {
    const same = (more: Past = {}): Past[] =>
      times(20, (index) => ({ call: `A${index}`, effective: signatureOf('A'), ...more }));
    const asked = { call: 'A20', effective: 'A', hasVolatile: true };
    expect(shown(ask(same(), asked))).toBe('block repeat 20');
    const differ = same().map((one, index) => ({ ...one, outcome: gives({ index }) }));
    expect(shown(ask(differ, asked))).toBe('pass');
    expect(shown(ask(same({ ending: 'open' }), asked))).toBe('warn repeat 20');
    expect(shown(ask(same({ ending: 'open' }), { ...asked, hasVolatile: false }))).toBe('block in-flight 20');
  });

  test('does not count what comes as slowly as the pace, and what is older than the decay', () => {
    const every = (ms: number): Past[] => times(40, (index) => ({ at: NOW - (40 - index) * ms }));
    expect(shown(ask(every(30_000)))).toBe('pass');
    expect(shown(ask(every(29_000)))).toBe('block repeat 40');
    expect(shown(ask(times(40, { at: NOW - 30 * 60_000 })))).toBe('block repeat 40');
    expect(shown(ask(times(40, { at: NOW - 30 * 60_000 - 1 })))).toBe('pass');
  });

  test('stays blocked when the model waits a little', () => {
    expect(shown(ask(times(20), { at: NOW + 120_000 }))).toBe('block repeat 20');
  });

  test('is seen by what was asked for and by what ran', () => {
    const same = times(20, (index) => ({ call: 'A', effective: signatureOf(`run ${index}`) }));
    expect(shown(ask(same))).toBe('block repeat 20');
    const rewritten = times(20, (index) => ({ call: `A${index}`, effective: signatureOf('run') }));
    expect(shown(ask(rewritten, { call: 'A99' }))).toBe('pass');
    expect(shown(ask(rewritten, { call: 'A99', effective: 'run' }))).toBe('block repeat 20');
    expect(shown(ask(rewritten, { call: 'run' }))).toBe('block repeat 20');
  });

  test('does not take a result that was not recorded for the same one', () => {
    const unrecorded = { result: undefined } as unknown as Past;
    expect(shown(ask(times(25, unrecorded)))).toBe('pass');
  });

  test('looks at the newest 128 of a longer history', () => {
    expect(shown(ask([...times(30), ...times(128, (index) => ({ call: `${index}` }))]))).toBe('pass');
  });
});

describe('poll', () => {
  const fast = (count: number): Past[] => times(count, { outcome: gives({ state: 'running' }) });

  test('warns after 10 and blocks after 20 polls that are faster than declared and bring nothing new', () => {
    expect(shown(ask(fast(10), { tool: poll }))).toBe('warn poll 10');
    expect(shown(ask(fast(20), { tool: poll }))).toBe('block poll 20');
  });

  test('says nothing of 25 polls with new output', () => {
    expect(
      shown(
        ask(
          times(25, (index) => ({ outcome: gives({ index }) })),
          { tool: poll },
        ),
      ),
    ).toBe('pass');
  });

  test('says nothing of polls at their cadence, a tenth early included', () => {
    const slow = times(128, (index) => ({ at: NOW - (128 - index) * 4500 }));
    expect(shown(ask(slow, { tool: poll }))).toBe('pass');
    const tooFast = times(128, (index) => ({ at: NOW - (128 - index) * 4400 }));
    expect(shown(ask(tooFast, { tool: poll }))).toBe('block poll 128');
  });

  test('lets a blocked poll through once it keeps its cadence, counted from the last try', () => {
    expect(shown(ask(fast(20), { tool: poll, at: NOW + 4000 }))).toBe('pass');
    const tried = [...fast(20), { ending: 'blocked', outcome: blocked({ detector: 'poll' }) } as const];
    expect(shown(ask(tried, { tool: poll, at: NOW + 3000 }))).toBe('block poll 21');
    expect(shown(ask(tried, { tool: poll, at: NOW + 4000 }))).toBe('pass');
  });
});

describe('cycle', () => {
  const circle = (period: number, count: number, outcome?: (index: number) => Outcome): Past[] =>
    times(count, (index) => ({ call: `c${index % period}`, ...(outcome ? { outcome: outcome(index) } : {}) }));

  test.each([
    [2, 10, 20],
    [3, 10, 20],
    [4, 12, 20],
    [5, 15, 20],
    [6, 18, 24],
    [7, 21, 28],
    [8, 24, 32],
  ])('of %i calls is warned about after %i and blocked after %i', (period, warn, block) => {
    const verdicts = Array.from({ length: block + 1 }, (_, count) =>
      shown(ask(circle(period, count), { call: `c${count % period}`, settings: { repeat: false } })),
    );
    expect(verdicts.indexOf(`warn cycle ${warn}`)).toBe(warn);
    expect(verdicts.indexOf(`block cycle ${block}`)).toBe(block);
    expect(verdicts.filter((verdict) => verdict !== 'pass')).toHaveLength(2);
  });

  test('of nine calls is none, nor is one that another call breaks', () => {
    expect(shown(ask(circle(9, 60), { call: 'c6', settings: { repeat: false } }))).toBe('pass');
    expect(shown(ask([...circle(2, 20), { call: 'x' }], { call: 'c0', settings: { repeat: false } }))).toBe('pass');
    expect(shown(ask(circle(2, 20), { call: 'x' }))).toBe('pass');
  });

  test('with results that change is none', () => {
    const past = circle(2, 40, (index) => gives({ index }));
    expect(shown(ask(past, { call: 'c0' }))).toBe('pass');
  });

  test('is also one call whose results go round', () => {
    const past = times(20, (index) => ({ outcome: gives(index % 2) }));
    expect(shown(ask(past, { settings: { repeat: false } }))).toBe('block cycle 20');
  });

  test('with a pause in each round counts as waiting, not as a loop', () => {
    const past = circle(2, 60).map((own, index) => ({
      ...own,
      at: NOW - (30 - (index >> 1)) * 31_000 + (index & 1) * 500,
    }));
    expect(shown(ask(past, { call: 'c0' }))).toBe('pass');
  });

  test('keeps all its members blocked, in any order', () => {
    const stopped = [
      ...circle(3, 20),
      { call: 'c2', ending: 'blocked', outcome: blocked({ detector: 'cycle', period: 3 }) } as const,
    ];
    for (const call of ['c0', 'c1', 'c2']) {
      const verdict = ask([...stopped, { call: 'other' }], { call });
      expect(verdict).toMatchObject({ kind: 'block', detector: 'cycle', scope: 'pattern' });
    }
    expect(shown(ask([...stopped, { call: 'other' }], { call: 'other' }))).toBe('pass');
  });
});

describe('failures', () => {
  const notFound = (index: number): Past => ({ call: `${index}`, outcome: fails(`No such file: '${index}'`) });

  test('of one kind and one tool are warned about after 10 and blocked after 20, for any arguments', () => {
    expect(shown(ask(times(10, notFound), { call: 'new' }))).toBe('warn same-failure 10');
    expect(shown(ask(times(20, notFound), { call: 'new' }))).toBe('block same-failure 20');
  });

  test('of one kind end with a success of the tool, or with another failure', () => {
    expect(shown(ask([...times(19, notFound), {}], { call: 'new' }))).toBe('pass');
    expect(shown(ask([...times(12, notFound), { outcome: fails('Permission denied.') }], { call: 'new' }))).toBe(
      'pass',
    );
  });

  test('of one kind go on across successes of other tools', () => {
    const past = times(20, notFound).flatMap((own, index) => [own, { toolId: 'x.y', call: `x${index}` }]);
    expect(shown(ask(past, { call: 'new' }))).toBe('block same-failure 20');
  });

  test('of many kinds and tools are warned about after 15 and blocked after 30, for tools that failed', () => {
    const past = (count: number): Past[] =>
      times(count, (index) => ({
        toolId: `t.t${index % 3}`,
        call: `${index}`,
        outcome: fails('x', `CODE_${index % 7}`),
      }));
    expect(shown(ask(past(15), { call: 'new', toolId: 't.t0' }))).toBe('warn any-failure 15');
    expect(shown(ask(past(30), { call: 'new', toolId: 't.t0' }))).toBe('block any-failure 30');
    expect(shown(ask(past(30), { call: 'new', toolId: 'x.y' }))).toBe('pass');
    expect(shown(ask([...past(30), { toolId: 'x.y' }], { call: 'new', toolId: 't.t0' }))).toBe('pass');
  });

  test('that say nothing about the tool neither count nor end a streak', () => {
    const cancelled = { outcome: errorOutcome('CALL_CANCELLED', {}) };
    expect(shown(ask(times(60, cancelled)))).toBe('pass');
    const past = times(20, notFound).flatMap((own) => [own, cancelled]);
    expect(shown(ask(past, { call: 'new' }))).toBe('block same-failure 20');
  });

  test('three times in a row are a retry, however strict a session has become', () => {
    expect(shown(ask(times(3, { outcome: fails('Busy.') }), { run: { loopEnds: Array(9).fill(NOW) } }))).not.toContain(
      'block',
    );
  });

  test('refusals by a hook or a rule add up like failures', () => {
    const past = times(20, (index) => ({
      call: `${index}`,
      outcome: errorOutcome('HOOK_BLOCKED', { hook: 'guard.x', reason: `No ${index}.` }),
    }));
    expect(shown(ask(past, { call: 'new' }))).toBe('block same-failure 20');
  });
});

describe('unknown tool', () => {
  const unknown = (index: number): Past => ({
    call: `${index}`,
    toolId: 'files.raed',
    outcome: errorOutcome('TOOL_UNKNOWN', { tool: 'files.raed', near: [] }),
  });

  test.each([
    [4, 'pass'],
    [5, 'warn unknown-tool 5'],
    [9, 'pass'],
    [10, 'block unknown-tool 10'],
  ])('called %i times before: %s', (count, verdict) => {
    expect(shown(ask(times(count, unknown), { call: 'new', toolId: 'files.raed' }))).toBe(verdict);
  });

  test('counts for its own name only', () => {
    expect(shown(ask(times(10, unknown), { call: 'new', toolId: 'files.read' }))).toBe('pass');
  });
});

describe('in flight', () => {
  const open = { ending: 'open' } as const;

  test('is warned about at the ninth and blocked from the 17th of the same call', () => {
    expect(shown(ask(times(8, open)))).toBe('warn in-flight 8');
    expect(shown(ask(times(15, open)))).toBe('pass');
    expect(shown(ask(times(16, open)))).toBe('block in-flight 16');
    expect(shown(ask(times(20, (index) => ({ ...open, call: `${index}` }))))).toBe('pass');
  });

  test('is over when they have ended, and no step towards the end of the run', () => {
    const duplicates = times(20, { ending: 'blocked', outcome: blocked({ detector: 'in-flight' }) } as const);
    expect(shown(ask([...times(8), ...duplicates]))).toBe('pass');
    expect(ask([...times(16, open), ...duplicates])).toMatchObject({ kind: 'block', scope: 'call' });
  });

  test('ends the run when nothing else than duplicates comes', () => {
    const duplicates = times(59, { ending: 'blocked', outcome: blocked({ detector: 'in-flight' }) } as const);
    expect(ask([...times(16, open), ...duplicates])).toMatchObject({ scope: 'run', code: 'RUN_ENDED_BY_LOOP' });
  });
});

describe('breaker', () => {
  test('stops a few calls that bring nothing new, in any order', () => {
    const order = '001012202110211020012210201201221001200112';
    const past = order
      .slice(0, 36)
      .split('')
      .map((call) => ({ call }));
    expect(shown(ask(past, { call: '0' }))).toBe('block breaker 30');
    expect(shown(ask(past.slice(1), { call: '0' }))).not.toContain('block');
    expect(shown(ask(past, { call: '0', settings: { breaker: false } }))).not.toContain('block');
    expect(shown(ask(past, { call: 'new' }))).toBe('pass');
  });

  test('does not count what comes slowly', () => {
    const past = times(45, (index) => ({
      at: NOW - (index < 5 ? 40 * 31_000 + (5 - index) * 1000 : (45 - index) * 31_000),
    }));
    expect(shown(ask(past))).toBe('pass');
  });

  test('does not take a few results that go up and down for nothing new', () => {
    const rolled = [3, 1, 4, 1, 5, 2, 6, 5, 3, 5];
    const past = times(120, (index) => ({ outcome: gives({ rolled: rolled[(index * 7 + (index >> 3)) % 10]! }) }));
    expect(shown(ask(past, { settings: { repeat: false } }))).toBe('pass');
  });

  test('lets many things be looked at three times', () => {
    const past = times(120, (index) => ({ call: `${(index * 7) % 40}` }));
    expect(shown(ask(past, { call: '7' }))).toBe('pass');
  });
});

describe('the ladder', () => {
  const pattern = (): SimulatedCall => ({ tool: { id: 'a.b' }, arguments: {}, outcome: says('same') });
  const { verdicts } = simulateRun(pattern, { calls: 40 });
  const blocks = verdicts.filter((verdict): verdict is LoopBlock => verdict.kind === 'block');

  test('goes from the warning over the call and the pattern to the end of the run', () => {
    expect(verdicts.map(({ kind }) => kind).indexOf('warn')).toBe(10);
    expect(verdicts.findIndex(({ kind }) => kind === 'block')).toBe(20);
    expect(blocks.map(({ scope }) => scope)).toStrictEqual([
      'call',
      ...times(8).map(() => 'pattern'),
      ...times(11).map(() => 'run'),
    ]);
    expect(blocks.map(({ code }) => code).indexOf('RUN_ENDED_BY_LOOP')).toBe(9);
  });

  test('blocks everything once the run is over, also what was never called', () => {
    const past = [...times(20), ...times(10, { ending: 'blocked', outcome: blocked({}) } as const)];
    expect(ask(past, { call: 'new', toolId: 'x.y' })).toMatchObject({
      scope: 'run',
      detector: 'ended',
      code: 'RUN_ENDED_BY_LOOP',
    });
    expect(ask(past, { call: 'new', toolId: 'x.y', tool: { ...poll, id: 'x.y' } })).toMatchObject({ scope: 'run' });
  });

  test('says in every message what happened and what to do, and in blocks that the call did not run', () => {
    const warnings = verdicts.flatMap((verdict) => (verdict.kind === 'warn' ? [verdict.message] : []));
    expect(warnings).toStrictEqual([expect.stringMatching(/^You have called a\.b 10 times .*stuck\.$/)]);
    expect(blocks.filter(({ message }) => !/^This call did not run: .*\.$/.test(message))).toStrictEqual([]);
    expect(blocks.filter(({ message }) => message.includes('run is ended')).map(({ scope }) => scope)).toStrictEqual([
      'run',
    ]);
    expect(blocks.some(({ message }) => message.includes('session'))).toBe(false);
    expect(Math.max(...blocks.map(({ message }) => message.length))).toBeLessThan(350);
  });

  test('is shorter after runs of the session that were ended, and shortest after two', () => {
    const firstBlocks = [0, 1, 2, 3, 50].map((endedRuns) => simulateRun(pattern, { calls: 40, endedRuns }).firstBlock);
    expect(firstBlocks).toStrictEqual([21, 11, 6, 6, 6]);
  });

  test('is as long as ever an hour after the runs were ended, and by one step longer after each of them', () => {
    const HOUR = 3_600_000;
    const firstBlock = (...endedMsAgo: readonly number[]) =>
      simulateRun(pattern, { calls: 40, endedMsAgo, stepMs: 1 }).firstBlock;
    expect([firstBlock(HOUR + 60_000, HOUR), firstBlock(HOUR, HOUR - 60_000), firstBlock(1000, 500)]).toStrictEqual([
      21, 11, 6,
    ]);
    const settings = changeLoopSettings(DEFAULT_LOOP_SETTINGS, { strictMs: 60_000 });
    expect(simulateRun(pattern, { calls: 40, endedMsAgo: [60_000], settings, stepMs: 1 }).firstBlock).toBe(21);
  });

  test('says with the end of the run, and only there, for how long the conversation rests', () => {
    const settings = changeLoopSettings(DEFAULT_LOOP_SETTINGS, { restMs: 5000 });
    const rests = simulateRun(pattern, { calls: 31, settings }).verdicts.map((verdict) =>
      verdict.kind === 'block' ? verdict.restMs : undefined,
    );
    expect(rests.slice(20)).toStrictEqual([...Array(9).fill(undefined), 5000, 5000]);
  });

  test('gives the block, not the warning, when detectors disagree', () => {
    const past = [...times(10, { outcome: says('a') }), ...times(20, { call: 'B', outcome: fails('x') })];
    expect(shown(ask(past, { call: 'A' }))).toBe('block same-failure 20');
  });
});

describe('budgets', () => {
  const budget = (budgets: LoopOptions['budgets'], run: Partial<RunState>, tool = { id: 'web.read' }): LoopVerdict =>
    ask([], { settings: { enabled: false, ...(budgets === undefined ? {} : { budgets }) }, run, tool });

  test('of calls lead to a warning when a tenth is left and are spent with the last one', () => {
    const at = (sequence: number): string => shown(budget({ callsPerRun: 50 }, { sequence }));
    expect([44, 45, 46, 50, 51].map(at)).toStrictEqual([
      'pass',
      'warn calls-per-run 45',
      'pass',
      'pass',
      'block calls-per-run 50',
    ]);
    expect(shown(budget({ callsPerRun: 5 }, { sequence: 5 }))).toBe('pass');
  });

  test('of a tool are taken from the closest pattern', () => {
    const callsPerTool = { '*': 9, 'web.*': 5, 'web.read': 2 };
    const at = (toolSequence: number, id: string): string => shown(budget({ callsPerTool }, { toolSequence }, { id }));
    expect([at(2, 'web.read'), at(3, 'web.read')]).toStrictEqual(['pass', 'block calls-per-tool 2']);
    expect([at(5, 'web.find'), at(6, 'web.find')]).toStrictEqual(['pass', 'block calls-per-tool 5']);
    expect([at(9, 'x.y'), at(10, 'x.y')]).toStrictEqual(['pass', 'block calls-per-tool 9']);
    expect(shown(budget({ callsPerTool: 3 }, { toolSequence: 4 }))).toBe('block calls-per-tool 3');
    expect(shown(budget({ callsPerTool: { 'x.y': 1 } }, { toolSequence: 400 }))).toBe('pass');
  });

  test('of time end with it', () => {
    expect(shown(budget({ wallTimeMs: 60_000 }, { startedAt: NOW - 60_000, sequence: 3 }))).toBe('pass');
    expect(shown(budget({ wallTimeMs: 60_000 }, { startedAt: NOW - 60_001, sequence: 3 }))).toBe('block wall-time 2');
  });

  test('of cost do not let a call begin that is known to go beyond them', () => {
    const dear = { id: 'web.read', cost: 0.5 };
    expect(shown(budget({ cost: 2 }, { cost: 1_500_000 }, dear))).toBe('pass');
    expect(shown(budget({ cost: 2 }, { cost: 1_500_001, sequence: 4 }, dear))).toBe('block cost 3');
    expect(shown(budget({ cost: 2 }, { cost: 1_999_999 }))).toBe('pass');
    expect(shown(budget({ cost: 2 }, { cost: 2_000_000, sequence: 4 }))).toBe('block cost 3');
  });

  test('have their own code, and say whether other tools can still be called', () => {
    expect(budget({ callsPerRun: 1 }, { sequence: 2 })).toMatchObject({ code: 'BUDGET_SPENT', scope: 'run' });
    expect(budget({ callsPerTool: 1 }, { toolSequence: 2 })).toMatchObject({ code: 'BUDGET_SPENT', scope: 'pattern' });
  });

  test('are no step towards the end of the run', () => {
    const past = times(50, { ending: 'blocked', outcome: blocked({ detector: 'calls-per-tool' }) } as const);
    expect(shown(ask(past, { call: 'new' }))).toBe('pass');
  });
});

describe('what a session counts over its runs', () => {
  const stalls = (count: number, at = NOW - 1000): Partial<RunState> => ({
    stalls: [{ signature: signatureOf('A'), count, at }],
  });

  test.each([
    [19, 'pass'],
    [20, 'warn session 20'],
    [39, 'pass'],
    [40, 'block session 40'],
  ])('is nothing new for %i times: the third call of a run is answered with %s', (count, verdict) => {
    expect(shown(ask(times(2), { run: stalls(count) }))).toBe(verdict);
  });

  test('leaves the first two calls of a run, other calls, new results, slow ones and old counts alone', () => {
    const run = stalls(100);
    expect(shown(ask(times(1), { run }))).toBe('pass');
    expect(shown(ask(times(3, { call: 'B' }), { call: 'B', run }))).toBe('pass');
    expect(shown(ask([{}, { outcome: says('new') }], { run }))).toBe('pass');
    expect(shown(ask(times(3), { run, at: NOW + 60_000 }))).toBe('pass');
    expect(shown(ask(times(3), { run: stalls(100, NOW - 31 * 60_000) }))).toBe('pass');
    expect(shown(ask(times(3), { run, settings: { repeat: false } }))).toBe('pass');
  });

  test('counts the same failure from its fourth time in a run on', () => {
    const failure = fails('No match.', 'NO_MATCH');
    const run = { stalls: [{ signature: endOfAttempt(failure).result!, count: 40, at: NOW }] };
    const failing = (count: number): Past[] => times(count, (index) => ({ call: `${index}`, outcome: failure }));
    expect(shown(ask(failing(2), { call: 'x', run }))).toBe('pass');
    expect(shown(ask(failing(3), { call: 'x', run }))).toBe('block session 40');
  });
});

describe('rememberAttempt', () => {
  const remember = (past: readonly Past[], own: Partial<Attempt> = {}) =>
    rememberAttempt(
      pack(historyOf(past)),
      { tool: toolTag('a.b'), raw: signatureOf('A'), at: NOW, ...endOfAttempt(says('same')), ...own },
      DEFAULT_LOOP_SETTINGS,
    );

  test('counts on where the last one of the same call stopped', () => {
    expect(remember([])).toStrictEqual({});
    expect(remember([{ call: 'B' }])).toStrictEqual({});
    expect(remember([{}])).toStrictEqual({ tally: 2 });
    expect(remember([{ tally: 300 }, { ending: 'open' }])).toMatchObject({ tally: 302 });
    expect(remember([{ tally: 300 }], { at: NOW + 60_000 })).toStrictEqual({ tally: 300 });
  });

  test('names what brought nothing new for the third time, by what ran without volatile values', () => {
    expect(remember(times(2))).toStrictEqual({ tally: 3, stall: signatureOf('A') });
    const past = times(2, (index) => ({ call: `${index}`, effective: signatureOf('E') }));
    expect(remember(past, { effective: signatureOf('E') })).toStrictEqual({ stall: signatureOf('E') });
    expect(remember([{}, { outcome: says('new') }])).toStrictEqual({ tally: 3 });
    expect(remember(times(2), endOfAttempt(blocked({})))).toStrictEqual({ tally: 3 });
  });
});
