import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import clock from '../../examples/modules/clock/index.ts';
import files from '../../examples/modules/files/index.ts';
import notes from '../../examples/modules/notes/index.ts';
import shell from '../../examples/modules/shell/index.ts';
import web from '../../examples/modules/web/index.ts';
import { declareModule, describeModule } from '../../src/modules/authoring/describe-module.ts';
import { nearNames } from '../../src/base/near-names.ts';
import { applyPolicyFile, keptParts, readPolicyFile } from '../../src/gate/policy/policy-file.ts';
import { whyClosed } from '../../src/gate/policy/closed-policy.ts';
import { findRuleProblems } from '../../src/gate/policy/rule-problems.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { Policy } from '../../src/domain/policy/policy.ts';
import type { ArgumentCondition, Rule } from '../../src/domain/policy/rule.ts';
import { COMPARISONS, comparisonsOf } from '../../src/gate/rules/compile-condition.ts';
import { compileRules } from '../../src/gate/rules/compile-rules.ts';
import { decideByRules } from '../../src/gate/rules/decide-by-rules.ts';
import { judgedAs } from '../support/judged-as.ts';
import { temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { codeBlocks, readPages } from './pages.ts';

const page = readPages().find(({ path }) => path === 'docs/rules.md')!;
const tools = [clock, files, notes, shell, web].flatMap(
  (module) => declareModule(describeModule(module), 'default').tools,
);
/** What stands in backticks in each cell of the table under these headings. */
function rowsOf(...headings: string[]): string[][][] {
  const lines = page.text.split('\n');
  const start = lines.indexOf(`| ${headings.join(' | ')} |`) + 2;
  const end = lines.findIndex((line, index) => index >= start && !line.startsWith('|'));
  return lines.slice(start, end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code!)),
  );
}

describe('docs/rules.md', () => {
  let folder: TemporaryFolder;
  beforeAll(() => void (folder = temporaryFolder('sallyport-docs')));
  afterAll(() => folder.remove());

  const policies = codeBlocks(page).filter(({ language }) => language === 'yaml');
  const read = (text: string): Policy => {
    const file = join(folder.path, 'block.yaml');
    writeFileSync(file, text, { mode: 0o600 });
    return readPolicyFile(file, nearNames).policy;
  };

  it.each(policies)('has in $place rules that fit the example modules', ({ text }) => {
    expect(findRuleProblems(read(text), { tools }, nearNames)).toStrictEqual([]);
  });

  const calls = rowsOf('call', 'verdict', 'by');
  it.each(calls)('says of %s that it is %s by %s', ([call], [verdict], [by]) => {
    const policy = read(policies[0]!.text);
    const [id, ...rest] = call!.split(' ');
    const decision = decideByRules(compileRules(policy), {
      tool: tools.find((one) => (one.id as string) === id)!,
      identity: { tenant: 'default', subject: 'ada', agent: 'assistant' },
      policy,
      arguments: JSON.parse(rest.join(' ')) as JsonObject,
    });
    expect([decision.verdict, decision.by === 'unmatched' ? decision.by : decision.by.id]).toStrictEqual([verdict, by]);
  });

  /** Ways to delete a file, most of which a list of forbidden words would not find by the word `rm`. */
  const deleting: readonly (readonly string[])[] = [
    ['rm', 'x'],
    ['/bin/rm', 'x'],
    ['./rm', 'x'],
    ['//bin//rm', 'x'],
    ['sh', '-c', 'rm x'],
    ['sh', '-c', 'r""m x'],
    ['bash', '-lc', '$(echo cm0geA== | base64 -d)'],
    ['env', 'rm', 'x'],
    ['busybox', 'rm', 'x'],
    ['xargs', '-a', 'list', 'rm'],
    ['find', '.', '-delete'],
    ['git', 'clean', '-fdx'],
    ['python3', '-c', 'import os; os.unlink("x")'],
    ['node', '-e', 'fs.unlinkSync("x")'],
    ['mv', 'x', '/dev/null'],
    ['truncate', '-s', '0', 'x'],
    ['tee', 'x'],
    ['cp', '/dev/null', 'x'],
    ['ls\n', 'x'],
    [' ls'],
    ['/tmp/ls'],
    [],
  ];
  it.each(deleting.map((command) => [command]))('shows rules that do not let %j delete anything', (command) => {
    const policy = read(policies[0]!.text);
    const { verdict } = decideByRules(compileRules(policy), {
      tool: tools.find((one) => (one.id as string) === 'shell.run')!,
      identity: { tenant: 'default', subject: 'ada', agent: 'assistant' },
      policy,
      arguments: { command: [...command] },
    });
    expect(verdict).toBe('deny');
  });

  const conditions = rowsOf('condition', 'holds for', 'does not hold for', 'cannot judge');
  const examples = conditions.flatMap(([condition, ...columns]) =>
    columns.flatMap((column, index) => column.map((args) => [condition![0]!, args, index] as const)),
  );
  it.each(examples)('says of %s and %s what is so', (condition, args, column) => {
    const judgement = judgedAs(parse(condition) as ArgumentCondition, JSON.parse(args) as JsonObject);
    expect(['holds', 'fails', 'unclear'][column]).toBe(judgement);
  });

  it('has an example of every comparison, and enough of everything', () => {
    const shown = conditions.flatMap(([condition]) => comparisonsOf(parse(condition![0]!) as ArgumentCondition));
    expect(new Set(shown)).toStrictEqual(new Set(COMPARISONS));
    expect([policies.length, calls.length, examples.length].every((count) => count >= 3)).toBe(true);
  });

  it('has a row for every key of a rule and of a question', () => {
    const keys = (...headings: string[]) => rowsOf(...headings).flatMap(([key]) => key!);
    const rule: Required<Record<keyof Rule, true>> = {
      id: true,
      verdict: true,
      tools: true,
      effects: true,
      privileged: true,
      agents: true,
      subjects: true,
      arguments: true,
      reason: true,
      ask: true,
    };
    const ask: Required<Record<keyof NonNullable<Rule['ask']>, true>> = {
      title: true,
      description: true,
      severity: true,
      timeoutMs: true,
      decisions: true,
      approvers: true,
      quorum: true,
    };
    expect(keys('key', 'meaning')).toStrictEqual(Object.keys(rule));
    expect(keys('key of `ask`', 'meaning')).toStrictEqual(Object.keys(ask));
  });
});

it('the file that takes everything back leaves nothing of the policy in force, and closes nothing', () => {
  const text = codeBlocks(page).find((block) => block.text.includes('agents: null'))!.text;
  const folder = temporaryFolder('sallyport-docs');
  try {
    const path = join(folder.path, 'open.yaml');
    writeFileSync(path, text);
    const file = readPolicyFile(path, nearNames);
    const strict: Policy = {
      roles: { staff: ['ada'] },
      permissions: {},
      paused: { all: true },
      agents: { main: { selection: [] } },
      tenants: { acme: { agents: {} } },
      rules: [{ id: 'no', verdict: 'deny' }],
      unmatched: 'deny',
      approvers: ['role:staff'],
      requesterMayDecide: true,
      loops: { default: { callsPerRun: 1 } },
      unattended: ['nightly'],
      secrets: { main: ['*'] },
    } as unknown as Policy;
    expect(keptParts(file, strict)).toEqual([]);
    expect(applyPolicyFile(file, strict)).toEqual(file.policy);
    expect(file.policy).toMatchObject({ permissions: { '*': { allow: ['*'] } }, rules: [], unmatched: 'allow' });
    expect(whyClosed(file.policy)).toBeUndefined();
  } finally {
    folder.remove();
  }
});
