import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SAMPLE_IDENTITY, sampleDeclaration } from '../../../test/support/sample-call.ts';
import { toolId } from '../../domain/identity/ids.ts';
import type { JsonObject } from '../../base/json.ts';
import { CLOSED_POLICY, type Policy } from '../../domain/policy/policy.ts';
import { VERDICTS, type ArgumentCondition, type Rule, type RuleVerdict } from '../../domain/policy/rule.ts';
import type { RuleCall, RuleDecision } from '../../domain/policy/rule-decision.ts';
import { compileRules } from './compile-rules.ts';
import { decideByRules } from './decide-by-rules.ts';
import { foreseeRules } from './foresee-rules.ts';

const policyOf = (rules: readonly Rule[], more: Partial<Policy> = {}): Policy => ({ ...CLOSED_POLICY, rules, ...more });
const callOf = (policy: Policy, more: Partial<RuleCall> = {}): RuleCall => ({
  tool: sampleDeclaration(),
  identity: SAMPLE_IDENTITY,
  arguments: {},
  ...more,
  policy,
});
const decide = (policy: Policy, more: Partial<RuleCall> = {}): RuleDecision =>
  decideByRules(compileRules(policy), callOf(policy, more));
const summary = ({ verdict, by, askers }: RuleDecision) => [
  verdict,
  by === 'unmatched' ? by : by.id,
  ...askers.map(({ asker }) => asker.id),
];
const rule = (id: string, verdict: RuleVerdict, more: Partial<Rule> = {}): Rule => ({ id, verdict, ...more });

describe('decideByRules', () => {
  it.each<[string, Rule[], Partial<Policy>, (string | undefined)[]]>([
    ['no rules', [], {}, ['allow', 'unmatched']],
    ['no rules, and what does not match is denied', [], { unmatched: 'deny' }, ['deny', 'unmatched']],
    ['no rules, and what does not match is asked', [], { unmatched: 'ask' }, ['ask', 'unmatched', 'unmatched']],
    ['rules about other tools', [rule('a', 'deny', { tools: ['sh.*'] })], {}, ['allow', 'unmatched']],
    ['a rule that allows', [rule('a', 'allow')], { unmatched: 'deny' }, ['allow', 'a']],
    ['deny before ask before allow', [rule('a', 'allow'), rule('b', 'ask'), rule('c', 'deny')], {}, ['deny', 'c']],
    ['ask before allow', [rule('a', 'allow'), rule('b', 'ask')], {}, ['ask', 'b', 'b']],
    ['all that ask', [rule('a', 'ask'), rule('b', 'allow'), rule('c', 'ask')], {}, ['ask', 'a', 'a', 'c']],
    ['the first of two that deny', [rule('a', 'deny'), rule('b', 'deny')], {}, ['deny', 'a']],
    ['a rule that asks instead of what does not match', [rule('a', 'ask')], { unmatched: 'deny' }, ['ask', 'a', 'a']],
    ['an unknown word where nothing matches', [], { unmatched: 'maybe' as RuleVerdict }, ['deny', 'unmatched']],
    ['an unknown verdict', [rule('a', 'maybe' as RuleVerdict)], {}, ['deny', 'a']],
  ])('takes %s', (_, rules, more, expected) => {
    expect(summary(decide(policyOf(rules, more)))).toStrictEqual(expected);
  });

  it('returns all rules that match, in the order in which they are written', () => {
    const rules = [rule('a', 'allow'), rule('b', 'deny', { tools: ['x.y'] }), rule('c', 'deny'), rule('d', 'ask')];
    expect(decide(policyOf(rules)).matched).toStrictEqual([rules[0], rules[2], rules[3]]);
  });

  it('returns of every rule that asks what a question needs', () => {
    const ask = { severity: 'critical', timeoutMs: 5_000 } as const;
    const asking = rule('pay', 'ask', { ask, reason: 'Money leaves the house.' });
    const [first] = decide(policyOf([asking])).askers;
    expect(first).toMatchObject({ options: ask, reason: 'Money leaves the house.' });
    expect(first?.asker).toMatchObject({ kind: 'rule', id: 'pay', grantable: true });
    const digestOf = (changed: Partial<Rule>) => decide(policyOf([{ ...asking, ...changed }])).askers[0]?.asker.digest;
    expect(digestOf({})).toBe(first?.asker.digest);
    expect(digestOf({ reason: 'Other.' })).not.toBe(first?.asker.digest);
    expect(decide(policyOf([asking, rule('b', 'deny')])).askers).toStrictEqual([]);
  });

  it.each<[string, Partial<Rule>, Partial<RuleCall>, boolean]>([
    ['its tool', { tools: ['notes.add'] }, {}, true],
    ['its module', { tools: ['sh.run', 'notes.*'] }, {}, true],
    ['every tool', { tools: ['*'] }, {}, true],
    ['another tool', { tools: ['notes.added'] }, {}, false],
    ['another module that starts alike', { tools: ['note.*'] }, {}, false],
    ['its effect', { effects: ['unsafe', 'read'] }, {}, true],
    ['another effect', { effects: ['unsafe'] }, {}, false],
    ['privileged tools', { privileged: true }, {}, false],
    ['tools that are not privileged', { privileged: false }, {}, true],
    ['its agent', { agents: ['main'] }, {}, true],
    ['another agent', { agents: ['other'] }, {}, false],
    ['its subject', { subjects: ['alice'] }, {}, true],
    ['another subject', { subjects: ['bob'] }, {}, false],
    ['a role of its subject', { subjects: ['role:ops'] }, {}, true],
    ['another role', { subjects: ['role:none'] }, {}, false],
    ['the subject of another tenant', { subjects: ['acme/alice'] }, {}, false],
    ['everybody', { subjects: ['*'] }, {}, true],
    ['all of these', { tools: ['notes.*'], effects: ['read'], agents: ['main'], subjects: ['alice'] }, {}, true],
    ['all of these but one', { tools: ['notes.*'], effects: ['read'], agents: ['main'], subjects: ['bob'] }, {}, false],
    ['its arguments', { arguments: [{ at: '/n', equals: 1 }] }, { arguments: { n: 1 } }, true],
    [
      'both of its arguments',
      {
        arguments: [
          { at: '/n', equals: 1 },
          { at: '/m', exists: true },
        ],
      },
      { arguments: { n: 1 } },
      false,
    ],
  ])('takes a rule about %s as it is', (_, about, call, isMatched) => {
    for (const verdict of VERDICTS) {
      const policy = policyOf([rule('r', verdict, about)], { roles: { ops: ['alice'], none: [] }, unmatched: 'allow' });
      expect(decide(policy, call).matched).toHaveLength(isMatched ? 1 : 0);
    }
  });

  it('keeps two definitions of one tool apart', () => {
    const policy = policyOf([rule('r', 'deny', { effects: ['unsafe'], privileged: true })]);
    const safe = sampleDeclaration();
    const unsafe = sampleDeclaration({ effect: 'unsafe', privileged: true });
    for (const [tool, verdict] of [
      [safe, 'allow'],
      [unsafe, 'deny'],
      [safe, 'allow'],
    ] as const) {
      expect(decide(policy, { tool }).verdict).toBe(verdict);
    }
  });

  it('lets a rule with a key of a later release deny, and never allow', () => {
    const later = { channels: ['web'] } as Partial<Rule>;
    expect(decide(policyOf([rule('a', 'allow', later)], { unmatched: 'deny' })).verdict).toBe('deny');
    expect(decide(policyOf([rule('a', 'ask', later)])).verdict).toBe('ask');
    expect(decide(policyOf([rule('a', 'deny', later)])).verdict).toBe('deny');
  });
});

describe('decideByRules for an agent that acts for another', () => {
  const identity = { ...SAMPLE_IDENTITY, agent: 'helper', delegators: ['main'] };
  const forMain = (verdict: RuleVerdict) => rule(`main-${verdict}`, verdict, { agents: ['main'] });
  const forHelper = (verdict: RuleVerdict) => rule(`helper-${verdict}`, verdict, { agents: ['helper'] });
  it.each<[string, Rule[], RuleVerdict, string[]]>([
    ['is stopped by what stops that one', [forMain('deny')], 'allow', ['deny', 'main-deny']],
    ['is asked as that one is', [forMain('ask')], 'allow', ['ask', 'main-ask', 'main-ask']],
    ['gets nothing from what that one alone may', [forMain('allow')], 'deny', ['deny', 'unmatched']],
    ['gets nothing from what it alone may', [forHelper('allow')], 'deny', ['deny', 'unmatched']],
    ['may what both may', [forHelper('allow'), forMain('allow')], 'deny', ['allow', 'helper-allow']],
    ['may what all may', [rule('all', 'allow')], 'deny', ['allow', 'all']],
    ['takes the stricter of two answers', [forHelper('ask'), forMain('deny')], 'allow', ['deny', 'main-deny']],
    ['asks for itself, and for that one', [forHelper('ask')], 'ask', ['ask', 'helper-ask', 'helper-ask', 'unmatched']],
  ])('%s', (_, rules, unmatched, expected) => {
    expect(summary(decide(policyOf(rules, { unmatched }), { identity }))).toStrictEqual(expected);
  });
});

describe('compileRules', () => {
  it('works a list of rules out once, and rules about other tools once for a tool', () => {
    const rules = [
      ...Array.from({ length: 1_000 }, (_, index) => rule(`r${index}`, 'deny', { tools: [`other.t${index}`] })),
      rule('own', 'ask', { tools: ['notes.*'] }),
    ];
    const policy = policyOf(rules);
    const compiled = compileRules(policy);
    const other: Policy = { ...policy, paused: { all: true } };
    expect(compileRules(other)).toBe(compiled);
    expect(compileRules(policyOf([...rules]))).not.toBe(compiled);
    const tool = { id: toolId('notes', 'add'), effect: 'read', privileged: false } as const;
    expect(compiled.about(tool).map((one) => one.rule.id)).toStrictEqual(['own']);
    expect(compiled.about({ ...tool })).toBe(compiled.about(tool));
    expect(() => (compiled.about(tool) as unknown[]).push(1)).toThrow(TypeError);
  });
});

describe('foreseeRules', () => {
  const [one, other] = ['a', 'b'].map((equals): Partial<Rule> => ({ arguments: [{ at: '/x', equals }] }));
  it.each<[string, Rule[], RuleVerdict, string]>([
    ['nothing', [], 'ask', 'ask by unmatched'],
    ['a rule without conditions', [rule('a', 'deny')], 'allow', 'deny by a'],
    ['a stricter one that may match', [rule('a', 'allow'), rule('b', 'ask', one)], 'allow', 'depends on b'],
    ['a weaker one that may match', [rule('a', 'deny'), rule('b', 'allow', one)], 'allow', 'deny by a'],
    ['one that may open', [rule('a', 'allow', one)], 'deny', 'depends on a'],
    [
      'one that may open and one that may close again',
      [rule('a', 'allow', one), rule('b', 'deny', other)],
      'deny',
      'depends on a',
    ],
    ['one that changes nothing', [rule('a', 'allow', one)], 'allow', 'allow by unmatched'],
  ])('of %s', (_, rules, unmatched, expected) => {
    const { arguments: __, ...call } = callOf(policyOf(rules, { unmatched }));
    const found = foreseeRules(call);
    const by = found.kind === 'certain' && found.by !== 'unmatched' ? found.by.id : 'unmatched';
    const told =
      found.kind === 'depends' ? `depends on ${found.among.map(({ id }) => id).join()}` : `${found.verdict} by ${by}`;
    expect(told).toBe(expected);
  });
});

const CONDITIONS: readonly ArgumentCondition[] = [
  { at: '/x', exists: true },
  { at: '/x', exists: false },
  { at: '/x', equals: 'a' },
  { at: '/x', not: true, equals: 'a' },
  { at: '/x', in: ['a', 1] },
  { at: '/x', prefix: 'a' },
  { at: '/x/*', glob: 'a*' },
  { at: '/x', not: true, pattern: 'a' },
  { at: '/x', range: { max: 3 } },
  { at: '/x', length: { max: 2 } },
  { at: '/x', not: true, host: ['good.com'] },
  { at: '/x/y', not: true, root: ['/data'] },
];
const someRule = fc.record(
  {
    id: fc.string({ minLength: 1, maxLength: 3 }),
    verdict: fc.constantFrom(...VERDICTS),
    tools: fc.subarray(['notes.add', 'notes.*', 'sh.run', '*'], { minLength: 1 }),
    effects: fc.subarray(['read', 'unsafe'] as const, { minLength: 1 }),
    privileged: fc.boolean(),
    agents: fc.subarray(['main', 'helper', 'other'], { minLength: 1 }),
    subjects: fc.subarray(['alice', 'bob', 'role:ops', '*'], { minLength: 1 }),
    arguments: fc.subarray([...CONDITIONS], { minLength: 1, maxLength: 2 }),
  },
  { requiredKeys: ['id', 'verdict'] },
);
const somePolicy = fc.record({
  rules: fc.array(someRule, { maxLength: 5 }),
  unmatched: fc.constantFrom(...VERDICTS),
  roles: fc.constantFrom({}, { ops: ['alice'] }),
});
const leaf = fc.constantFrom('a', 'ab', 'https://good.com/', '/data/x', '', 1, 7, null, true);
const someArguments = fc.oneof(
  fc.constant<JsonObject>({}),
  fc.record({ x: fc.oneof(leaf, fc.array(leaf, { maxLength: 3 }), fc.record({ y: leaf }), fc.constant({})) }),
);
const someIdentity = fc.constantFrom(
  SAMPLE_IDENTITY,
  { ...SAMPLE_IDENTITY, subject: 'bob' },
  { ...SAMPLE_IDENTITY, agent: 'helper', delegators: ['main'] },
);
const strictness = (verdict: RuleVerdict): number => VERDICTS.indexOf(verdict);

describe('rules', () => {
  it('never allow more because a rule that denies was added', () => {
    fc.assert(
      fc.property(
        somePolicy,
        someRule,
        fc.nat(5),
        someArguments,
        someIdentity,
        (given, added, place, args, identity) => {
          const call = { arguments: args, identity };
          const before = { ...CLOSED_POLICY, ...given };
          const rules = before.rules.toSpliced(place, 0, { ...added, verdict: 'deny' });
          const [was, is] = [decide(before, call), decide({ ...before, rules }, call)];
          expect(strictness(is.verdict)).toBeGreaterThanOrEqual(strictness(was.verdict));
        },
      ),
      { numRuns: 400 },
    );
  });

  it('never allow what a rule with the same conditions that denies does not see', () => {
    fc.assert(
      fc.property(someRule, someArguments, someIdentity, (one, args, identity) => {
        const call = { arguments: args, identity };
        const matched = (verdict: RuleVerdict) => decide(policyOf([{ ...one, verdict }]), call).matched.length;
        expect(matched('deny')).toBeGreaterThanOrEqual(matched('allow'));
        expect(matched('ask')).toBe(matched('deny'));
      }),
      { numRuns: 400 },
    );
  });

  it('are foreseen as they decide, for any arguments', () => {
    fc.assert(
      fc.property(somePolicy, someArguments, someIdentity, (given, args, identity) => {
        const policy = { ...CLOSED_POLICY, ...given };
        const { arguments: _, ...call } = callOf(policy, { identity });
        const decided = decide(policy, { identity, arguments: args });
        const known = foreseeRules({ ...call, arguments: args });
        expect(known).toStrictEqual({ kind: 'certain', verdict: decided.verdict, by: decided.by });
        const foreseen = foreseeRules(call);
        const verdicts = foreseen.kind === 'certain' ? [foreseen.verdict] : VERDICTS;
        expect(verdicts).toContain(decided.verdict);
        const among = foreseen.kind === 'certain' ? [] : foreseen.among;
        expect(among.every((one) => one.arguments !== undefined)).toBe(true);
      }),
      { numRuns: 400 },
    );
  });
});
