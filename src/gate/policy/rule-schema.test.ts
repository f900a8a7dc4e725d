import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nearNames } from '../../base/near-names.ts';
import { PlaneError } from '../../domain/errors/errors.ts';
import { COMPARISONS } from '../rules/compile-condition.ts';
import { readPolicyFile } from './policy-file.ts';

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'sallyport-rules-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function read(text: string) {
  writeFileSync(join(folder, 'policy.yaml'), text);
  return readPolicyFile(join(folder, 'policy.yaml'), nearNames);
}
function problemOf(text: string): string {
  try {
    read(text);
  } catch (error) {
    if (error instanceof PlaneError && error.code === 'POLICY_INVALID')
      return error.message.replaceAll(`${folder}/`, '');
    throw error;
  }
  throw new Error('The policy was accepted.');
}
const ruleOf = (members: string): string => `rules:\n  - { id: a, verdict: deny, ${members} }`;
const conditionOf = (members: string): string => ruleOf(`arguments: [{ ${members} }]`);
const askOf = (members: string): string => `rules:\n  - { id: a, verdict: ask, ask: { ${members} } }`;

describe('rules of a policy file', () => {
  it('are stored as they are written, with no among the decisions', () => {
    const { policy, partsSet } = read(`roles: { ops: [ann] }
approvers: ['role:ops']
requesterMayDecide: false
unmatched: ask
rules:
  - id: pay
    verdict: ask
    tools: [bank.pay, 'shop.*']
    effects: [unsafe]
    privileged: false
    agents: [main]
    subjects: ['role:ops', 'acme/*']
    reason: Money leaves the house.
    arguments:
      - { at: /amount, range: { min: 100 } }
      - { at: /to/*/iban, not: true, prefix: DE }
    ask:
      title: Pay
      description: "Two\\nlines"
      severity: critical
      timeoutMs: 604800000
      decisions: [allow-once, allow-once]
      approvers: [ann, bob]
      quorum: 2
`);
    expect(partsSet).toStrictEqual(['rules', 'unmatched', 'approvers', 'requesterMayDecide']);
    expect(policy).toMatchObject({ unmatched: 'ask', approvers: ['role:ops'], requesterMayDecide: false });
    expect(policy.rules).toStrictEqual([
      {
        id: 'pay',
        verdict: 'ask',
        tools: ['bank.pay', 'shop.*'],
        effects: ['unsafe'],
        privileged: false,
        agents: ['main'],
        subjects: ['role:ops', 'acme/*'],
        reason: 'Money leaves the house.',
        arguments: [
          { at: '/amount', range: { min: 100 } },
          { at: '/to/*/iban', not: true, prefix: 'DE' },
        ],
        ask: {
          title: 'Pay',
          description: 'Two\nlines',
          severity: 'critical',
          timeoutMs: 604_800_000,
          decisions: ['allow-once', 'deny'],
          approvers: ['ann', 'bob'],
          quorum: 2,
        },
      },
    ]);
  });

  it.each([
    ['rules: {}', 'rules'],
    ['rule: []', 'unknown key "rule", did you mean "rules"?'],
    ['unmatched: maybe', 'unmatched: expected one of allow, ask, deny'],
    ['approvers: ann', 'approvers'],
    ['approvers: ["role:"]', 'approvers.0: expected a subject, role:NAME or *'],
    ['approvers: ["role:ops"]', 'policy.yaml:1:13: approvers: there is no role ops'],
    ['requesterMayDecide: "no"', 'requesterMayDecide: expected true or false'],
    ['rules:\n  - { verdict: deny }', 'rules.0.id'],
    ['rules:\n  - { id: a }', 'policy.yaml:2:5: rules.0.verdict: expected one of allow, ask, deny'],
    ['rules:\n  - { id: a, verdict: block }', 'rules.0.verdict: expected one of allow, ask, deny'],
    ['rules:\n  - { id: "a b", verdict: deny }', 'rules.0.id: expected 1 to 64 letters'],
    ['rules:\n  - { id: unmatched, verdict: deny }', 'rules.0.id: unmatched stands for "no rule"'],
    [
      'rules:\n  - { id: a, verdict: deny, tools: [b.c] }\n  - { id: a, verdict: allow }',
      'policy.yaml:3:11: rules.1.id: a is there twice',
    ],
    [ruleOf('tool: [a.b]'), 'policy.yaml:2:29: unknown key "tool" in rules.0, did you mean "tools"?'],
    [ruleOf('argument: []'), 'unknown key "argument" in rules.0, did you mean "arguments"?'],
    [ruleOf('tools: a.b'), 'rules.0.tools'],
    [ruleOf('tools: []'), 'rules.0.tools: an empty list matches nothing'],
    [ruleOf('tools: [shell]'), 'rules.0.tools.0: expected module.tool, module.* or *'],
    [ruleOf('tools: ["a.b*"]'), 'rules.0.tools.0: expected module.tool, module.* or *'],
    [ruleOf('effects: []'), 'rules.0.effects: an empty list'],
    [ruleOf('effects: [write]'), 'rules.0.effects.0: expected one of read, idempotent, unsafe'],
    [ruleOf('privileged: 1'), 'rules.0.privileged: expected true or false'],
    [ruleOf('agents: []'), 'rules.0.agents: an empty list'],
    [ruleOf('agents: ["*"]'), 'rules.0.agents.0: leave agents out to mean all of them'],
    [ruleOf('subjects: []'), 'rules.0.subjects: an empty list'],
    [ruleOf('subjects: ["role:a b"]'), 'rules.0.subjects.0: expected a subject, role:NAME or *'],
    [ruleOf('subjects: ["role:ops"]'), 'policy.yaml:2:40: rule "a": there is no role ops'],
    [`roles: { opps: [] }\n${ruleOf('subjects: ["role:ops"]')}`, 'there is no role ops, did you mean opps?'],
    [ruleOf('reason: ""'), 'rules.0.reason'],
    [ruleOf('reason: "a\\u001b"'), 'rules.0.reason: expected text without control characters'],
    [ruleOf(`reason: ${'x'.repeat(501)}`), 'rules.0.reason: expected at most 500 characters'],
    [ruleOf('arguments: []'), 'rules.0.arguments: expected a condition'],
    [
      `agents: { main: { selection: [] } }\n${ruleOf('agents: [mian]')}`,
      'policy.yaml:3:38: rule "a": no agent mian is declared, did you mean main?',
    ],
  ])('of %j: %s', (text, problem) => {
    expect(problemOf(text)).toContain(problem);
  });

  it.each([
    ['equals: 1', 'rules.0.arguments.0.at'],
    ['at: /x', `expected exactly one of ${COMPARISONS.join(', ')}`],
    ['at: /x, not: true', 'expected exactly one of'],
    ['at: /x, equals: 1, prefix: a', 'found equals and prefix'],
    ['at: /x, equal: 1', 'unknown key "equal" in rules.0.arguments.0, did you mean "equals"?'],
    ['at: x, equals: 1', 'rules.0.arguments.0.at: expected a JSON pointer'],
    ['at: /a~b, equals: 1', 'rules.0.arguments.0.at: expected a JSON pointer'],
    ['at: /a~, equals: 1', 'expected a JSON pointer'],
    [`at: ${'/a'.repeat(33)}, equals: 1`, 'expected a JSON pointer'],
    ['at: /x, not: 1, equals: 1', 'rules.0.arguments.0.not: expected true or false'],
    ['at: /x, exists: 1', 'rules.0.arguments.0.exists: expected true or false'],
    ['at: /x, equals: .inf', 'rules.0.arguments.0.equals'],
    ['at: /x, equals: "\\ud800"', 'lone surrogates'],
    ['at: /x, equals: 12345678901234567890', 'rules.0.arguments.0.equals: expected a number that is exact'],
    ['at: /x, in: [1, [9007199254740993]]', 'expected a number that is exact'],
    ['at: /x, range: { min: 12345678901234567890 }', 'expected a number that is exact'],
    ['at: /x, in: []', 'rules.0.arguments.0.in: an empty list holds for nothing'],
    ['at: /x, in: a', 'rules.0.arguments.0.in'],
    ['at: /x, prefix: ""', 'rules.0.arguments.0.prefix: expected some text'],
    ['at: /x, prefix: 1', 'rules.0.arguments.0.prefix'],
    ['at: /x, glob: ""', 'rules.0.arguments.0.glob: expected some text'],
    ['at: /x, pattern: "("', 'rules.0.arguments.0.pattern: expected an RE2 expression'],
    ['at: /x, pattern: "a(?=b)"', 'no look-around'],
    ['at: /x, pattern: "(a)\\\\1"', 'no back-references'],
    ['at: /x, pattern: "(a{500}){500}"', 'expected an RE2 expression'],
    [`at: /x, pattern: ${'a'.repeat(2001)}`, 'at most 2000 characters'],
    ['at: /x, range: {}', 'rules.0.arguments.0.range: expected min, max or both'],
    ['at: /x, range: { min: 2, max: 1 }', 'rules.0.arguments.0.range: min is greater than max'],
    ['at: /x, range: { min: "1" }', 'rules.0.arguments.0.range.min'],
    ['at: /x, range: { form: 1 }', 'unknown key "form" in rules.0.arguments.0.range'],
    ['at: /x, length: { min: 2, max: 1 }', 'rules.0.arguments.0.length: min is greater than max'],
    ['at: /x, length: { min: -1 }', 'rules.0.arguments.0.length.min: expected 0 or more'],
    ['at: /x, length: { max: 1.5 }', 'rules.0.arguments.0.length.max: expected a whole number'],
    ['at: /x, host: []', 'rules.0.arguments.0.host: an empty list'],
    ['at: /x, host: ["https://a.com"]', 'rules.0.arguments.0.host.0: expected a host name or *.NAME'],
    ['at: /x, host: ["a.com:80"]', 'expected a host name'],
    ['at: /x, root: []', 'rules.0.arguments.0.root: an empty list'],
    ['at: /x, root: [../a]', 'rules.0.arguments.0.root.0: expected a folder'],
  ])('with the condition { %s }: %s', (members, problem) => {
    expect(problemOf(conditionOf(members))).toContain(problem);
  });

  it.each([
    ['title: ""', 'rules.0.ask.title'],
    [`title: ${'x'.repeat(121)}`, 'rules.0.ask.title: expected at most 120 characters'],
    ['description: "a\\u0007"', 'rules.0.ask.description'],
    ['severity: high', 'rules.0.ask.severity: expected one of info, warning, critical'],
    ['timeoutMs: 999', 'rules.0.ask.timeoutMs: expected at least 1000 (1 second)'],
    ['timeoutMs: 604800001', 'rules.0.ask.timeoutMs: expected at most 604800000 (7 days)'],
    ['timeoutMs: 1000.5', 'rules.0.ask.timeoutMs: expected a whole number'],
    ['timeout: 5000', 'unknown key "timeout" in rules.0.ask, did you mean "timeoutMs"?'],
    ['decisions: []', 'rules.0.ask.decisions: expected allow-once, allow-always or both'],
    ['decisions: [deny]', 'rules.0.ask.decisions: expected allow-once, allow-always or both'],
    ['decisions: [allow]', 'rules.0.ask.decisions.0: expected one of allow-once, allow-always, deny'],
    ['approvers: []', 'rules.0.ask.approvers: nobody could answer'],
    ['approvers: ["role:ops"]', 'rule "a": there is no role ops'],
    ['quorum: 0', 'rules.0.ask.quorum: expected 1 or more'],
    ['quorum: 1.5', 'rules.0.ask.quorum: expected a whole number'],
    ['approvers: [ann], quorum: 2', 'policy.yaml:2:61: rule "a": 2 must say yes, but only 1 may answer'],
    ['approvers: [ann, default/ann], quorum: 2', '2 must say yes, but only 1 may answer'],
    ['onTimeout: allow', 'rules.0.ask.onTimeout: a question that nobody answers in time is denied'],
    ['timeoutBehavior: allow', 'a question that nobody answers in time is denied'],
    ['allowOnTimeout: true', 'a question that nobody answers in time is denied'],
    ['timeoutDecision: allow-once', 'a question that nobody answers in time is denied'],
  ])('that ask with { %s }: %s', (members, problem) => {
    expect(problemOf(askOf(members))).toContain(problem);
  });

  it('that do not ask have no question, and a quorum is held against the approvers of the policy', () => {
    expect(problemOf(ruleOf('ask: { title: x }'))).toContain('rules.0.ask: a question needs verdict: ask');
    expect(problemOf(`approvers: [ann]\n${askOf('quorum: 2')}`)).toContain('2 must say yes, but only 1 may answer');
  });

  it.each([
    askOf('quorum: 5'),
    askOf('approvers: ["*"], quorum: 5'),
    askOf('approvers: ["acme/*"], quorum: 5'),
    `roles: { ops: [] }\n${askOf('approvers: [ann, "role:ops"], quorum: 5')}`,
    askOf('approvers: [ann, acme/ann], quorum: 2'),
    conditionOf('at: "", equals: {}'),
    conditionOf('at: /x, equals: null'),
    conditionOf('at: /a~0b~1c/*/0, exists: false'),
  ])('are accepted: %s', (text) => {
    expect(read(text).policy.rules).toHaveLength(1);
  });
});

describe('rules that can never match', () => {
  const both = (verdict: string, one: string, other: string): string =>
    `rules:\n  - id: a\n    verdict: ${verdict}\n    arguments:\n      - { at: /x, ${one} }\n      - { at: /x, ${other} }`;

  it.each([
    ['exists: true', 'exists: false'],
    ['exists: true', 'not: true, exists: true'],
    ['exists: false', 'equals: 1'],
    ['not: true, exists: true', 'host: [a.com]'],
    ['equals: 1', 'equals: 2'],
    ['equals: 1', 'not: true, equals: 1'],
    ['equals: a', 'in: [b, c]'],
    ['in: [a, b]', 'not: true, in: [a, b, c]'],
    ['in: [a, bb]', 'prefix: c'],
    ['equals: abc', 'length: { max: 2 }'],
    ['equals: https://a.com/, not: true', 'equals: https://a.com/'],
    ['equals: https://a.com/', 'host: [b.com]'],
    ['equals: /etc/passwd', 'root: [/data]'],
    ['equals: 5', 'range: { min: 6 }'],
    ['equals: 5', 'pattern: "5"'],
    ['range: { max: 1 }', 'range: { min: 2 }'],
    ['range: { min: 2, max: 3 }', 'not: true, range: { min: 1, max: 4 }'],
    ['length: { max: 1 }', 'length: { min: 2 }'],
    ['range: { min: 1 }', 'prefix: a'],
    ['range: { min: 1 }', 'not: true, glob: a'],
    ['range: { min: 1 }', 'length: { min: 1 }'],
    ['prefix: /a', 'prefix: /b'],
    ['prefix: /a/b', 'not: true, prefix: /a'],
    ['host: [a.com, b.com]', 'host: [c.com, "*.a.com"]'],
    ['host: ["*.a.com"]', 'host: ["*.b.com"]'],
    ['root: [/a]', 'root: [/b, c]'],
    ['root: [/a]', 'not: true, root: [/a]'],
  ])('have at one pointer { %s } and { %s }', (one, other) => {
    for (const verdict of ['allow', 'ask', 'deny']) {
      for (const text of [both(verdict, one, other), both(verdict, other, one)]) {
        expect(problemOf(text)).toBe(
          'The policy was not accepted: policy.yaml:6:9: rule "a": it can never match: no value at /x meets both conditions 1 and 2.',
        );
      }
    }
  });

  it.each([
    ['exists: true', 'equals: 1'],
    ['exists: true', 'not: true, equals: 1'],
    ['in: [a, b]', 'in: [b, c]'],
    ['in: [a, b]', 'not: true, in: [b]'],
    ['range: { max: 2 }', 'range: { min: 2 }'],
    ['range: { min: 1 }', 'not: true, range: { min: 2 }'],
    ['length: { min: 1 }', 'prefix: a'],
    ['prefix: /a', 'prefix: /a/b'],
    ['prefix: /a', 'not: true, prefix: /a/b'],
    ['prefix: a', 'pattern: b'],
    ['glob: "a*"', 'glob: "b*"'],
    ['not: true, equals: null', 'prefix: a'],
    ['host: ["*.com"]', 'host: ["*.a.com"]'],
    ['host: ["*.a.com"]', 'host: [x.a.com]'],
    ['root: [/a/b]', 'root: [/a]'],
    ['not: true, range: { min: 1 }', 'not: true, range: { min: 2 }'],
  ])('have not at one pointer { %s } and { %s }', (one, other) => {
    for (const verdict of ['allow', 'ask', 'deny']) {
      expect(read(both(verdict, one, other)).policy.rules).toHaveLength(1);
    }
  });

  it('read what is missing, and several elements, as the verdict does', () => {
    expect(problemOf(both('allow', 'exists: false', 'not: true, equals: 1'))).toContain('it can never match');
    expect(read(both('deny', 'exists: false', 'not: true, equals: 1')).policy.rules).toHaveLength(1);
    const every = (verdict: string) => both(verdict, 'equals: 1', 'equals: 2').replaceAll('/x', '/x/*');
    expect(problemOf(every('allow'))).toContain('it can never match');
    expect(read(every('deny')).policy.rules).toHaveLength(1);
  });

  it.each([
    ['deny', 'deny', 'policy.yaml:3:5: rule "b": rule "a" says the same to the same calls'],
    ['deny', 'allow', 'policy.yaml:3:5: rule "b": it can never decide: rule "a" says deny to the same calls'],
    [
      'ask',
      'deny',
      'policy.yaml:3:5: rule "b": rule "a" can never decide beside it: this one says deny to the same calls',
    ],
  ])('are about exactly the same calls: %s and %s', (one, other, problem) => {
    const text = `rules:
  - { id: a, verdict: ${one}, tools: [a.b, a.c], arguments: [{ at: /x, equals: { p: 1, q: 2 } }], reason: One. }
  - { id: b, verdict: ${other}, tools: [a.c, a.b, a.b], arguments: [{ equals: { q: 2, p: 1 }, at: /x }] }`;
    expect(problemOf(text)).toContain(problem);
  });

  it('are reported together, each with its place', () => {
    const text = `rules:
  - { id: a, verdict: deny, subjects: ['role:x'] }
  - { id: b, verdict: deny, subjects: ['role:y'] }`;
    expect(problemOf(text)).toMatch(/policy\.yaml:2:40: rule "a".*; policy\.yaml:3:40: rule "b"/);
  });
});
