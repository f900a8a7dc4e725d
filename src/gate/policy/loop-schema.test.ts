import { describe, expect, test } from 'vitest';
import { nearNames } from '../../base/near-names.ts';
import { DEFAULT_LOOP_SETTINGS, settingsFor, type LoopPolicy } from '../../domain/policy/loop-settings.ts';
import { describeIssue } from '../../base/settings/describe-issue.ts';
import { findLoopWarnings } from './loop-warnings.ts';
import { keysOfLoops, loopsSchema } from './loop-schema.ts';

/** The problems in the words of the policy reader, without their place in the file. */
function problemsOf(value: unknown): string[] {
  const parsed = loopsSchema.safeParse(value, { reportInput: true });
  const needs = { placeOf: () => 'policy.yaml:1:1', near: nearNames, expects: () => undefined };
  const keysBelow = (path: string) => keysOfLoops(path === '' ? 'loops' : `loops.${path}`);
  return parsed.success
    ? []
    : parsed.error.issues
        .flatMap((issue) => describeIssue(issue, { ...needs, keysBelow }))
        .map((problem) => problem.replace('policy.yaml:1:1: ', ''));
}

describe('loopsSchema', () => {
  test('keeps what was given, and nothing else', () => {
    const given: LoopPolicy = {
      default: { repeat: { block: 30 }, poll: false, breaker: 40, budgets: { callsPerRun: 500, callsPerTool: 50 } },
      agents: {
        watcher: { enabled: false },
        'team member 2': {
          budgets: { callsPerTool: { 'web.*': 5, 'web.read': 9, '*': 100 }, cost: 0.5, wallTimeMs: 60_000 },
        },
      },
    };
    expect(loopsSchema.parse(given)).toStrictEqual(given);
    expect(loopsSchema.parse({})).toStrictEqual({});
  });

  const wrong: readonly (readonly [string, unknown, string])[] = [
    ['an unknown part', { defaults: {} }, 'unknown key "defaults", did you mean "default"?'],
    ['an unknown detector', { default: { repeats: {} } }, 'unknown key "repeats" in default, did you mean "repeat"?'],
    [
      'an unknown detector of an agent',
      { agents: { a: { cycles: {} } } },
      'unknown key "cycles" in agents.a, did you mean "cycle"?',
    ],
    [
      'an unknown budget',
      { default: { budgets: { callPerRun: 1 } } },
      'unknown key "callPerRun" in default.budgets, did you mean "callsPerRun"?',
    ],
    [
      'a number for two',
      { default: { repeat: 10 } },
      'default.repeat: expected warn and block, whole numbers from 1 to 60, or false',
    ],
    [
      'a threshold of zero',
      { default: { repeat: { warn: 0 } } },
      'default.repeat.warn: expected a whole number from 1 to 60',
    ],
    [
      'more than is remembered',
      { default: { cycle: { block: 61 } } },
      'default.cycle.block: expected a whole number from 1 to 60',
    ],
    ['text for a switch', { default: { enabled: 'no' } }, 'default.enabled: expected true or false'],
    [
      'half a call',
      { default: { budgets: { callsPerRun: 1.5 } } },
      'default.budgets.callsPerRun: expected a whole number from 1 to 1000000000',
    ],
    [
      'no cost at all',
      { default: { budgets: { cost: 0 } } },
      'default.budgets.cost: expected a number above 0, up to 1000000000',
    ],
    [
      'a tool that can have no such name',
      { default: { budgets: { callsPerTool: { 'a b': 1 } } } },
      'default.budgets.callsPerTool: expected a whole number above 0, or a map of module.tool, module.* or * to such numbers',
    ],
    [
      'an agent with a name that means something else',
      { agents: JSON.parse('{"constructor":{}}') as unknown },
      'agents.constructor: expected another name',
    ],
    [
      'block below warn',
      { default: { repeat: { warn: 20, block: 10 } } },
      'default.repeat: warn 20 must be < block (10)',
    ],
    ['block at warn', { default: { cycle: { warn: 20 } } }, 'default.cycle: warn 20 must be < block (20)'],
    [
      'block below the warn it inherits',
      { default: { poll: { warn: 15 } }, agents: { a: { poll: { block: 12 } } } },
      'agents.a.poll: warn 15 must be < block (12)',
    ],
    ['a breaker nothing gets to', { default: { breaker: 20 } }, 'default.breaker: 20 must be > repeat.block (20)'],
    [
      'a pace longer than the memory',
      { agents: { a: { paceMs: 3_600_000 } } },
      'agents.a.paceMs: 3600000 must be < decayMs (1800000)',
    ],
  ];
  test.each(wrong)('refuses %s', (_what, value, problem) => {
    expect(problemsOf(value)).toStrictEqual([problem]);
  });

  test('reports a problem of the default once, not again for every agent', () => {
    expect(problemsOf({ default: { repeat: { warn: 30 } }, agents: { a: {}, b: { endRun: 5 } } })).toStrictEqual([
      'default.repeat: warn 30 must be < block (20)',
    ]);
  });
});

describe('settingsFor', () => {
  test('has safe defaults on, without a policy and for an agent that is not named', () => {
    expect(settingsFor(undefined, 'main')).toBe(DEFAULT_LOOP_SETTINGS);
    expect(settingsFor({}, 'main')).toStrictEqual(DEFAULT_LOOP_SETTINGS);
    expect(DEFAULT_LOOP_SETTINGS.enabled).toBe(true);
  });

  test('takes the agent before the default before what is built in, number by number', () => {
    const loops: LoopPolicy = {
      default: { repeat: { warn: 5 }, poll: false, budgets: { callsPerRun: 9, cost: 1 } },
      agents: { main: { repeat: { block: 40 }, poll: { warn: 3 }, budgets: { cost: 2 } }, idle: { enabled: false } },
    };
    expect(settingsFor(loops, 'main')).toMatchObject({
      repeat: { warn: 5, block: 40 },
      poll: { warn: 3, block: 20 },
      budgets: { callsPerRun: 9, cost: 2 },
    });
    expect(settingsFor(loops, 'other')).toMatchObject({ repeat: { warn: 5, block: 20 }, poll: false });
    expect(settingsFor(loops, 'idle').enabled).toBe(false);
  });

  test('gives the same object each time, also for names that every object has', () => {
    const loops: LoopPolicy = { agents: { main: { endRun: 3 } } };
    expect(settingsFor(loops, 'main')).toBe(settingsFor(loops, 'main'));
    expect(settingsFor(loops, 'constructor')).toBe(settingsFor(loops, '__proto__'));
  });
});

describe('findLoopWarnings', () => {
  const loops: LoopPolicy = {
    default: { budgets: { callsPerTool: { 'web.*': 5, 'note.*': 5, '*': 9 } } },
    agents: { assistent: { budgets: { callsPerTool: { 'web.reed': 1 } } } },
  };

  test('names agents and tools that are not there, with the nearest name', () => {
    const found = findLoopWarnings(loops, ['assistant'], ['web.read', 'notes.add'], nearNames);
    expect(found.map(({ text }) => text)).toStrictEqual([
      'loops.agents.assistent names no declared agent, did you mean assistant?',
      'loops.default.budgets.callsPerTool.note.* matches no published tool',
      'loops.agents.assistent.budgets.callsPerTool.web.reed matches no published tool, did you mean web.read?',
    ]);
  });

  test('compares with nothing that is not known', () => {
    expect(findLoopWarnings(loops, undefined, undefined, nearNames)).toStrictEqual([]);
  });
});
