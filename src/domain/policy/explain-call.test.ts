import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkSelection } from '../identity/agent.ts';
import { foreseeRules } from '../../gate/rules/foresee-rules.ts';
import type { Catalog } from '../tool/catalog.ts';
import { explainCall, type Asked, type Explanation } from './explain-call.ts';
import { toolId } from '../identity/ids.ts';
import type { JsonObject } from '../../base/json.ts';
import { applyChange, type PolicyChange } from './nearest-change.ts';
import { checkPermission, CLOSED_POLICY, type Policy } from './policy.ts';
import type { Identity } from '../identity/session.ts';
import { DEFAULT_LIMITS, type ToolDeclaration } from '../tool/tool.ts';

const tool = (module: string, name: string, privileged = false): ToolDeclaration => ({
  id: toolId(module, name),
  description: name,
  inputSchema: { type: 'object' },
  effect: 'read',
  privileged,
  serial: false,
  limits: DEFAULT_LIMITS,
  digest: `${module}.${name}`,
});
const moduleOf = (id: string, ...tools: ToolDeclaration[]) => ({
  id,
  description: id,
  version: '1.0.0',
  pool: 'default',
  tools,
  digest: id,
});
const CATALOG: Catalog = {
  sequence: 1,
  digest: 'd',
  modules: [moduleOf('notes', tool('notes', 'add'), tool('notes', 'list')), moduleOf('sh', tool('sh', 'run', true))],
};
const ANN: Identity = { tenant: 'default', subject: 'ann', agent: 'main' };
const OPEN: Policy = { ...CLOSED_POLICY, permissions: { '*': { allow: ['*'] } } };

function explain(policy: Policy, asked: Partial<Asked> = {}, catalog?: Catalog): Explanation {
  return explainCall(
    { tool: 'notes.add', identity: ANN, ...asked },
    {
      catalog: catalog ?? CATALOG,
      record: { version: 7, policy },
      fill: (_, value) => ({ place: 'inbox', ...value }),
      validate: (_, value: JsonObject) => (value['text'] === undefined ? ['text: is missing'] : []),
      near: (name, known) => [...known].filter((id) => id[0] === name[0]),
      askRules: foreseeRules,
    },
  );
}
const answerOf = (explanation: Explanation) => explanation.checks.find(({ check }) => check === explanation.decidedBy);
const applyAll = (policy: Policy, changes: readonly PolicyChange[]): Policy => changes.reduce(applyChange, policy);

describe('explainCall', () => {
  const inbox = { at: '/place', equals: 'inbox' } as const;
  const noInbox: Policy = { ...OPEN, rules: [{ id: 'no-inbox', verdict: 'deny', arguments: [inbox] }] };

  it('denies what asks a person where no person watches, and says why', () => {
    const asking: Policy = { ...OPEN, rules: [{ id: 'careful', verdict: 'ask', tools: ['notes.add'] }] };
    const night: Policy = { ...asking, unattended: ['main'] };
    const denied = explain(night);
    expect(denied).toMatchObject({ allowed: false, verdict: 'deny', decidedBy: 'rules' });
    expect(answerOf(denied)?.found).toBe(
      '"careful" asks a person; agent main runs unattended, so what asks a person is denied at once unless a grant allows it',
    );
    const why = { ...night, rules: [{ ...asking.rules![0]!, reason: 'Everybody reads it.' }] };
    expect(answerOf(explain(why))?.found).toContain('Everybody reads it; agent main runs unattended');
    expect(denied.changes).toEqual([{ kind: 'attend', agent: 'main' }]);
    expect(explain(applyAll(night, denied.changes))).toMatchObject({ allowed: true, verdict: 'ask' });
    const session = explain(asking, { identity: { ...ANN, unattended: true } });
    expect(session).toMatchObject({ allowed: false, verdict: 'deny', changes: [] });
    expect(answerOf(session)?.found).toContain('the session is unattended');
    expect(explain({ ...asking, rules: [], unmatched: 'ask', unattended: ['main'] })).toMatchObject({
      verdict: 'deny',
    });
    expect(explain(night, { tool: 'notes.list' })).toMatchObject({ allowed: true, verdict: 'allow' });
  });

  it('names the tenant of a declaration that decides, and changes that one', () => {
    const all = [{ module: '*', tools: 'all' as const }];
    const policy: Policy = {
      ...OPEN,
      agents: { main: { selection: all } },
      tenants: { acme: { agents: { main: { selection: [{ module: 'notes', tools: ['list'] }] } } } },
    };
    const identity: Identity = { ...ANN, tenant: 'acme' };
    const denied = explain(policy, { identity });
    expect(answerOf(denied)).toEqual({
      check: 'selection',
      passes: false,
      found: 'agent main of tenant acme did not select it',
      rule: ['tenants', 'acme', 'agents', 'main', 'selection'],
    });
    expect(denied.changes).toMatchObject([{ kind: 'declare', agent: 'main', tenant: 'acme' }]);
    const changed = applyAll(policy, denied.changes);
    expect(explain(changed, { identity })).toMatchObject({ allowed: true });
    expect(changed.agents).toEqual(policy.agents);
    const general = explain(policy).checks.find(({ check }) => check === 'selection');
    expect(general).toMatchObject({ passes: true, found: 'agent main selected all tools of all modules' });
    // If only the tenant declares agents, the suggested change declares the missing agent for that tenant.
    const { agents: _, ...own } = policy;
    const unknown = explain(own, { identity: { ...identity, agent: 'step' } });
    expect(unknown.changes).toMatchObject([{ kind: 'declare', agent: 'step', tenant: 'acme' }]);
    expect(explain(own).checks[2]).toMatchObject({
      passes: true,
      found: expect.stringContaining('no agents') as string,
    });
  });

  it('asks the rules about the arguments with the defaults of the published schema', () => {
    expect(explain(noInbox, { arguments: { text: 'x' } })).toMatchObject({ verdict: 'deny', decidedBy: 'rules' });
    expect(explain(noInbox, { arguments: { text: 'x', place: 'desk' } })).toMatchObject({ verdict: 'allow' });
  });

  it('claims no verdict on arguments that a worker normalises first', () => {
    const catalog = { ...CATALOG, modules: [moduleOf('notes', { ...tool('notes', 'add'), normalises: true })] };
    for (const place of ['inbox', 'desk']) {
      const explanation = explain(noInbox, { arguments: { text: 'x', place } }, catalog);
      expect(explanation).toMatchObject({ verdict: 'depends', decidedBy: 'rules' });
      expect(explanation.checks.find(({ check }) => check === 'arguments')?.found).toContain(
        'the worker normalises them',
      );
    }
    expect(explain(OPEN, { arguments: { text: 'x' } }, catalog)).toMatchObject({ verdict: 'allow' });
  });

  it('names the permission that lets a call through, and the version it stands in', () => {
    const explanation = explain(OPEN, { arguments: { text: 'x' } });
    expect(explanation).toMatchObject({ allowed: true, decidedBy: 'permission', policyVersion: 7, changes: [] });
    expect(answerOf(explanation)).toStrictEqual({
      check: 'permission',
      passes: true,
      found: '"*" allows *',
      rule: ['permissions', '*', 'allow', '*'],
    });
    expect(explanation.checks.map(({ check }) => check)).toStrictEqual([
      'tool',
      'paused',
      'selection',
      'permission',
      'arguments',
      'rules',
    ]);
  });

  it.each<[string, Policy, Partial<Asked>, string, string[] | undefined, PolicyChange[]]>([
    [
      'a pause of everything',
      { ...OPEN, paused: { all: true } },
      {},
      'all calls are paused',
      ['paused', 'all'],
      [{ kind: 'resume', what: 'all' }],
    ],
    [
      'a pause of the agent',
      { ...OPEN, paused: { agents: ['x', 'main'] } },
      {},
      'agent main is paused',
      ['paused', 'agents', 'main'],
      [{ kind: 'resume', what: 'agent', name: 'main' }],
    ],
    [
      'a pause of the module',
      { ...OPEN, paused: { tools: ['sh.run', 'notes.*'] } },
      {},
      'tool notes.* is paused',
      ['paused', 'tools', 'notes.*'],
      [{ kind: 'resume', what: 'tool', name: 'notes.*' }],
    ],
    [
      'an agent that is not declared',
      { ...OPEN, agents: { other: { selection: [{ module: '*', tools: 'all' }] } } },
      {},
      'no agent main is declared',
      undefined,
      [{ kind: 'declare', agent: 'main', declaration: { selection: [{ module: 'notes', tools: ['add'] }] } }],
    ],
    [
      'a selection without the tool',
      { ...OPEN, agents: { main: { description: 'm', selection: [{ module: 'notes', tools: ['list'] }] } } },
      {},
      'agent main did not select it',
      ['agents', 'main', 'selection'],
      [
        {
          kind: 'declare',
          agent: 'main',
          declaration: { description: 'm', selection: [{ module: 'notes', tools: ['add', 'list'] }] },
        },
      ],
    ],
    [
      'the selection of an agent that the caller acts for',
      { ...OPEN, agents: { main: { selection: [{ module: '*', tools: 'all' }] }, boss: { selection: [] } } },
      { identity: { ...ANN, delegators: ['boss'] } },
      'agent boss, for whom main acts, did not select it',
      ['agents', 'boss', 'selection'],
      [{ kind: 'declare', agent: 'boss', declaration: { selection: [{ module: 'notes', tools: ['add'] }] } }],
    ],
    [
      'a closed tool',
      CLOSED_POLICY,
      { identity: { ...ANN, tenant: 'acme' } },
      'no permission names acme/ann',
      undefined,
      [{ kind: 'permit', entry: 'notes.add', permission: { allow: ['acme/ann'] } }],
    ],
    [
      'a denial of the caller',
      { ...OPEN, permissions: { ...OPEN.permissions, 'notes.*': { deny: ['bob', 'ann'] } } },
      {},
      '"notes.*" denies ann',
      ['permissions', 'notes.*', 'deny', 'ann'],
      [{ kind: 'permit', entry: 'notes.*', permission: { deny: ['bob'] } }],
    ],
    [
      'a denial of a role',
      { roles: { ops: ['ann'] }, permissions: { 'notes.add': { allow: ['*'], deny: ['role:ops'] } }, paused: {} },
      {},
      '"notes.add" denies role:ops',
      ['permissions', 'notes.add', 'deny', 'role:ops'],
      [{ kind: 'permit', entry: 'notes.add', permission: { allow: ['*'] }, frees: 'role:ops' }],
    ],
    [
      'a privileged tool that is open to everybody but not by name',
      OPEN,
      { tool: 'sh.run' },
      '"*" allows *, but a privileged tool is opened by name and to named subjects only',
      ['permissions', '*', 'allow', '*'],
      [{ kind: 'permit', entry: 'sh.run', permission: { allow: ['ann'] } }],
    ],
  ])('finds %s', (_, policy, asked, found, rule, changes) => {
    const explanation = explain(policy, asked);
    expect(explanation.allowed).toBe(false);
    expect(answerOf(explanation)).toMatchObject({ passes: false, found });
    expect(answerOf(explanation)?.rule).toStrictEqual(rule);
    expect(explanation.changes).toStrictEqual(changes);
    expect(explain(applyAll(policy, changes), asked).allowed).toBe(true);
  });

  it.each<[string, Policy, Partial<Asked>, string, string[] | undefined, PolicyChange[]]>([
    [
      'a rule that denies',
      { ...OPEN, rules: [{ id: 'no-adding', verdict: 'deny', tools: ['notes.add'], reason: 'It is full.' }] },
      {},
      '"no-adding" denies it: It is full.',
      ['rules', 'no-adding'],
      [{ kind: 'remove-rule', rule: 'no-adding' }],
    ],
    [
      'two rules that deny, one because of the arguments',
      {
        ...OPEN,
        rules: [
          { id: 'a', verdict: 'deny', arguments: [{ at: '/text', prefix: 'x' }] },
          { id: 'b', verdict: 'deny' },
        ],
      },
      { arguments: { text: 'xy' } },
      '"a" denies it',
      ['rules', 'a'],
      [
        { kind: 'remove-rule', rule: 'a' },
        { kind: 'remove-rule', rule: 'b' },
      ],
    ],
    [
      'that no rule matches',
      { ...OPEN, unmatched: 'deny', rules: [{ id: 'allow-notes-add', verdict: 'allow', tools: ['sh.run'] }] },
      { identity: { ...ANN, delegators: ['boss'] } },
      'none matches: unmatched denies it',
      ['unmatched'],
      [
        {
          kind: 'add-rule',
          rule: {
            id: 'allow-notes-add-2',
            verdict: 'allow',
            tools: ['notes.add'],
            agents: ['main', 'boss'],
            subjects: ['ann'],
          },
        },
      ],
    ],
  ])('finds %s', (_, policy, asked, found, rule, changes) => {
    const explanation = explain(policy, asked);
    expect(explanation).toMatchObject({ allowed: false, verdict: 'deny', decidedBy: 'rules' });
    expect(answerOf(explanation)).toMatchObject({ passes: false, found });
    expect(answerOf(explanation)?.rule).toStrictEqual(rule);
    expect(explanation.changes).toStrictEqual(changes);
    expect(explain(applyAll(policy, changes), asked).allowed).toBe(true);
  });

  it.each<[string, Policy, Partial<Asked>, Partial<Explanation>, string]>([
    [
      'a rule that asks',
      { ...OPEN, rules: [{ id: 'a', verdict: 'ask', reason: 'Look.' }] },
      {},
      { allowed: true, verdict: 'ask', decidedBy: 'rules' },
      '"a" asks a person: Look.',
    ],
    [
      'a rule that allows',
      { ...OPEN, unmatched: 'deny', rules: [{ id: 'a', verdict: 'allow' }] },
      {},
      { allowed: true, verdict: 'allow', decidedBy: 'rules' },
      '"a" allows it',
    ],
    [
      'rules about arguments that are not given',
      {
        ...OPEN,
        rules: [
          { id: 'a', verdict: 'deny', arguments: [{ at: '/text', prefix: 'x' }] },
          { id: 'b', verdict: 'allow', arguments: [{ at: '/text', prefix: 'y' }] },
          { id: 'c', verdict: 'ask', arguments: [{ at: '/text', prefix: 'z' }] },
        ],
      },
      {},
      { allowed: true, verdict: 'depends', decidedBy: 'rules', changes: [] },
      'depends on the arguments: "a" (deny), "b" (allow), "c" (ask)',
    ],
    [
      'rules about arguments that change nothing',
      { ...OPEN, rules: [{ id: 'a', verdict: 'allow', arguments: [{ at: '/text', prefix: 'x' }] }] },
      {},
      { allowed: true, verdict: 'allow', decidedBy: 'permission' },
      'none matches: unmatched allows it',
    ],
    [
      'that there are no rules',
      OPEN,
      {},
      { allowed: true, verdict: 'allow', decidedBy: 'permission' },
      'there are none',
    ],
  ])('tells %s', (_, policy, asked, expected, found) => {
    const explanation = explain(policy, asked);
    expect(explanation).toMatchObject(expected);
    expect(explanation.checks.at(-1)).toMatchObject({ check: 'rules', passes: true, found });
  });

  it('takes a refusal before the rules as the verdict, and also reports the rules', () => {
    const policy: Policy = { ...CLOSED_POLICY, rules: [{ id: 'a', verdict: 'deny' }] };
    const explanation = explain(policy);
    expect(explanation).toMatchObject({ allowed: false, verdict: 'deny', decidedBy: 'permission' });
    expect(explanation.changes.map(({ kind }) => kind)).toStrictEqual(['permit', 'remove-rule']);
    expect(explain({ ...CLOSED_POLICY, unmatched: 'ask' }).verdict).toBe('deny');
    expect(explain(applyAll(policy, explanation.changes)).allowed).toBe(true);
  });

  it('reports wrong arguments, which no change of the policy makes right', () => {
    const explanation = explain(OPEN, { arguments: {} });
    expect(explanation).toMatchObject({ allowed: false, decidedBy: 'arguments', changes: [] });
    expect(answerOf(explanation)?.found).toBe('text: is missing');
  });

  it('reports a tool that is not published, and the tool that was probably meant', () => {
    expect(explain(OPEN, { tool: 'notes.ad' })).toMatchObject({
      allowed: false,
      decidedBy: 'tool',
      changes: [],
      near: ['notes.add', 'notes.list'],
    });
    expect(answerOf(explain(OPEN, { tool: 'notes' }))?.found).toBe('a tool is named module.tool');
  });

  it('has no change for a subject that cannot be named alone', () => {
    expect(explain(CLOSED_POLICY, { identity: { ...ANN, subject: '*' } }).changes).toStrictEqual([]);
  });

  it('reports every obstacle and a change for each of them', () => {
    const policy: Policy = {
      roles: { ops: ['ann'] },
      permissions: { 'notes.add': { deny: ['role:ops', 'ann'] }, '*': { deny: ['*'] } },
      paused: { all: true, agents: ['main'], tools: ['*', 'notes.add'] },
      agents: {},
    };
    const explanation = explain(policy);
    expect(explanation.decidedBy).toBe('paused');
    expect(explanation.checks.filter(({ passes }) => !passes).map(({ check }) => check)).toStrictEqual([
      'paused',
      'selection',
      'permission',
    ]);
    expect(explanation.changes).toHaveLength(7);
    expect(explain(applyAll(policy, explanation.changes)).allowed).toBe(true);
  });

  it('decides as the plane does, and its changes suffice, for any policy', () => {
    const name = fc.constantFrom(
      'ann',
      'bob',
      '*',
      'default/*',
      'acme/ann',
      'acme/*',
      'role:ops',
      'role:none',
      'default/ann',
    );
    const pattern = fc.constantFrom('notes.add', 'notes.*', 'sh.run', 'sh.*', '*');
    const agent = fc.constantFrom('main', 'boss', 'other');
    const names = fc.array(name, { maxLength: 4 });
    const permission = fc.record({ allow: names, deny: names }, { requiredKeys: [] });
    const selection = fc.array(
      fc.record({
        module: fc.constantFrom('notes', 'sh', '*'),
        tools: fc.constantFrom<'all' | string[]>('all', [], ['add'], ['run', 'list']),
      }),
      { maxLength: 2 },
    );
    const policies = fc.record(
      {
        roles: fc.record({ ops: fc.array(fc.constantFrom('ann', 'acme/ann')) }),
        permissions: fc.dictionary(pattern, permission),
        paused: fc.record(
          { all: fc.boolean(), agents: fc.array(agent), tools: fc.array(pattern) },
          { requiredKeys: [] },
        ),
        agents: fc.dictionary(agent, fc.record({ selection })),
      },
      { requiredKeys: ['roles', 'permissions', 'paused'] },
    );
    const identities = fc.record(
      {
        tenant: fc.constantFrom('default', 'acme'),
        subject: fc.constantFrom('ann', 'a/b', 'role:ops'),
        agent,
        delegators: fc.array(agent, { maxLength: 2 }),
      },
      { requiredKeys: ['tenant', 'subject', 'agent'] },
    );
    const tools = fc.constantFrom(...CATALOG.modules.flatMap((module) => module.tools));
    fc.assert(
      fc.property(policies, identities, tools, (policy, identity, asked) => {
        const explanation = explain(policy, { tool: asked.id, identity });
        const decided =
          checkSelection(policy, asked.id, identity).selected && checkPermission(policy, asked, identity).allowed;
        expect(explanation.allowed).toBe(decided);
        expect(explanation.changes.length > 0).toBe(!decided);
        const changed = applyAll(policy, explanation.changes);
        expect(explain(changed, { tool: asked.id, identity })).toMatchObject({ allowed: true, changes: [] });
        expect(checkPermission(changed, asked, identity).allowed).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
