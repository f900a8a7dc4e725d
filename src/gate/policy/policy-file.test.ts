import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nearNames } from '../../base/near-names.ts';
import { PlaneError } from '../../domain/errors/errors.ts';
import { CLOSED_POLICY, type Policy } from '../../domain/policy/policy.ts';
import { applyPolicyFile, findPolicyWarnings, keptParts, readPolicyFile } from './policy-file.ts';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'sallyport-policy-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function read(text: string, name = 'policy.yaml') {
  writeFileSync(join(folder, name), text);
  return readPolicyFile(join(folder, name), nearNames);
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

describe('readPolicyFile', () => {
  it('fills in what is left out, and knows whether the file speaks of pauses', () => {
    const { placeOf: _, ...file } = read('permissions: { "*": { allow: ["*"] } }');
    expect(file).toStrictEqual({
      policy: { roles: {}, permissions: { '*': { allow: ['*'] } }, paused: {} },
      partsSet: [],
      warnings: [],
    });
    expect(read('paused: { all: true }').partsSet).toStrictEqual(['paused']);
  });

  it('stores a selection in one form, however it was written', () => {
    const { policy, partsSet, warnings } = read(`agents:
  main:
    description: Talks to people.
    selection:
      - { setup_id: notes, triggers: { list: true, add: false } }
      - { module: clock, tools: all }
  "team member 2":
    selection:
      - { module: notes, tools: { add: true, list: false } }
      - { module: notes, tools: [list, add] }
  idle: { selection: [] }
  mute: { selection: [{ module: notes, tools: { add: false } }, { module: clock, tools: [] }, { module: web, tools: {} }] }
  all: { selection: [{ module: "*", tools: all }] }
`);
    expect(partsSet).toStrictEqual(['agents']);
    expect(policy.agents).toStrictEqual({
      main: {
        description: 'Talks to people.',
        selection: [
          { module: 'clock', tools: 'all' },
          { module: 'notes', tools: ['list'] },
        ],
      },
      'team member 2': { selection: [{ module: 'notes', tools: ['add', 'list'] }] },
      idle: { selection: [] },
      mute: {
        selection: [
          { module: 'clock', tools: [] },
          { module: 'notes', tools: [] },
          { module: 'web', tools: [] },
        ],
      },
      all: { selection: [{ module: '*', tools: 'all' }] },
    });
    expect(warnings).toStrictEqual([
      'agents.team member 2 has several entries for module notes; together they select add, list',
    ]);
  });

  it.each([
    ['permisions: {}', 'policy.yaml:1:1: unknown key "permisions", did you mean "permissions"?'],
    [
      'permissions:\n  "*": { alow: ["*"] }',
      'policy.yaml:2:10: unknown key "alow" in permissions.*, did you mean "allow"?',
    ],
    ['permissions:\n  shell: {}', 'expected module.tool, module.* or *'],
    ['permissions:\n  "shell.*.x": {}', 'expected module.tool, module.* or *'],
    ['permissions: { "*": { allow: "*" } }', 'permissions.*.allow'],
    ['permissions: { "*": { allow: [""] } }', 'permissions.*.allow.0'],
    ['permissions: { "*": { allow: ["role:a b"] } }', 'expected a subject, role:NAME or *'],
    ['roles: { "a b": [] }', 'expected the name of a role'],
    ['roles: { ops: ann }', 'roles.ops'],
    ['roles: { ops: ["role:ops"] }', 'roles.ops.0: expected a subject or TENANT/NAME'],
    ['roles: { ops: ["*"] }', 'roles.ops.0: expected a subject or TENANT/NAME'],
    ['roles: { ops: ["acme/*"] }', 'roles.ops.0: expected a subject or TENANT/NAME'],
    ['roles: { ops: ["acme/"] }', 'roles.ops.0: expected a subject or TENANT/NAME'],
    ['permissions: { "*": { deny: ["acme/"] } }', 'permissions.*.deny.0: expected a subject, role:NAME or *'],
    ['permissions: { "*": { allow: ["/eve"] } }', 'permissions.*.allow.0: expected a subject, role:NAME or *'],
    [
      'permissions: { "*": { deny: ["default/role:staff"] } }',
      'permissions.*.deny.0: a role is written role:NAME, did you mean role:staff?',
    ],
    [
      'permissions: { "*": { deny: ["Role:staff"] } }',
      'permissions.*.deny.0: a role is written role:NAME, did you mean role:staff?',
    ],
    [
      'permissions: { "*": { deny: ["ROLE:staff"] } }',
      'permissions.*.deny.0: a role is written role:NAME, did you mean role:staff?',
    ],
    [
      'permissions: { "*": { deny: ["roles:staff"] } }',
      'permissions.*.deny.0: a role is written role:NAME, did you mean role:staff?',
    ],
    [
      'permissions: { "*": { deny: ["acme/Roles:staff"] } }',
      'permissions.*.deny.0: a role is written role:NAME, did you mean role:staff?',
    ],
    [
      'permissions: { "*": { deny: [" role:staff"] } }',
      'permissions.*.deny.0: a role is written role:NAME, did you mean role:staff?',
    ],
    ['permissions: { "*": { deny: ["*/eve"] } }', 'permissions.*.deny.0: expected a subject, role:NAME or *'],
    ['permissions: { "*": { deny: ["e*"] } }', 'permissions.*.deny.0: expected a subject, role:NAME or *'],
    ['permissions: { "*": { deny: ["acme/e*"] } }', 'permissions.*.deny.0: expected a subject, role:NAME or *'],
    ['permissions: { "*": { deny: ["ac*/*"] } }', 'permissions.*.deny.0: expected a subject, role:NAME or *'],
    ['permissions: { "*": { deny: ["**"] } }', 'permissions.*.deny.0: expected a subject, role:NAME or *'],
    ['permissions: { "*": { deny: ["role:st*"] } }', 'permissions.*.deny.0: expected a subject, role:NAME or *'],
    ['permissions: { "*": { deny: ["Role:a b"] } }', 'permissions.*.deny.0: expected a subject, role:NAME or *'],
    ['roles: { staff: ["acme/role:boss"] }', 'roles.staff.0: expected a subject or TENANT/NAME'],
    ['roles: { staff: ["Role:boss"] }', 'roles.staff.0: expected a subject or TENANT/NAME'],
    ['roles: { staff: ["roles:boss"] }', 'roles.staff.0: expected a subject or TENANT/NAME'],
    ['roles: { staff: ["e*"] }', 'roles.staff.0: expected a subject or TENANT/NAME'],
    ['roles: { staff: ["*/eve"] }', 'roles.staff.0: expected a subject or TENANT/NAME'],
    [
      'roles: { contractors: [eve] }\npermissions: { "*": { allow: ["*"], deny: [bob, "role:contractrs"] } }',
      'policy.yaml:2:49: permissions.*.deny: there is no role contractrs, did you mean contractors?',
    ],
    [
      'roles: { ops: [eve] }\npermissions: { clock.now: { allow: ["role:opps"] } }',
      'permissions.clock.now.allow: there is no role opps, did you mean ops?',
    ],
    ['paused: { all: "yes" }', 'paused.all'],
    ['paused: { tools: ["shell"] }', 'expected module.tool, module.* or *'],
    ['version: 1', 'unknown key "version"'],
    ['agent: {}', 'unknown key "agent", did you mean "agents"?'],
    ['agents: { "": { selection: [] } }', 'expected text of 1 to 256 characters without control characters'],
    ['agents: { "a\\u0007": { selection: [] } }', 'expected text of 1 to 256 characters'],
    [`agents: { ${'x'.repeat(257)}: { selection: [] } }`, 'expected text of 1 to 256 characters'],
    ['agents: { main: {} }', 'policy.yaml:1:17: agents.main.selection'],
    ['agents: { main: { selecton: [] } }', 'unknown key "selecton" in agents.main, did you mean "selection"?'],
    ['agents: { main: null }', 'agents.main'],
    ['agents: { main: { selection: all } }', 'agents.main.selection'],
    [
      'agents:\n  main:\n    selection:\n      - { modul: a, tools: all }',
      'policy.yaml:4:11: unknown key "modul" in agents.main.selection.0, did you mean "module"?',
    ],
    ['agents: { main: { selection: [{ module: a }] } }', 'expected module and tools, or setup_id and triggers'],
    ['agents: { main: { selection: [{}] } }', 'expected module and tools, or setup_id and triggers'],
    [
      'agents: { main: { selection: [{ module: a, triggers: { b: true } }] } }',
      'expected module and tools, or setup_id and triggers',
    ],
    [
      'agents: { main: { selection: [{ module: a, tools: all, setup_id: a, triggers: {} }] } }',
      'expected module and tools, or setup_id and triggers',
    ],
    ['agents: { main: { selection: [{ module: a b, tools: all }] } }', 'expected the id of a module, or * for all'],
    [
      'agents: { main: { selection: [{ module: a, tools: everything }] } }',
      'agents.main.selection.0.tools: expected all, a list of names, or a map of names to true or false',
    ],
    ['agents: { main: { selection: [{ module: a, tools: { b: "yes" } }] } }', 'agents.main.selection.0.tools'],
    [
      'agents: { main: { selection: [{ module: a, tools: [a.b] } ] } }',
      'agents.main.selection.0.tools.0: expected the name of a tool, without its module',
    ],
    ['agents: { main: { selection: [{ module: "*", tools: [b] }] } }', 'module * takes all tools: write tools: all'],
    ['agents: { main: { selection: [{ setup_id: "*", triggers: { b: true } }] } }', 'module * takes all tools'],
    ['agents: { constructor: { selection: [] } }', 'the key constructor is not allowed'],
    ['[]', 'the file'],
    ['roles: &a {}\npermissions: *a', 'anchors are not supported'],
    ['roles: { __proto__: [] }', '__proto__ is not allowed'],
    ['', 'the file is empty'],
  ])('refuses %j', (text, problem) => {
    expect(problemOf(text)).toContain(problem);
  });
});

describe('applyPolicyFile', () => {
  const agents = { main: { selection: [{ module: 'notes', tools: 'all' as const }] } };
  const current: Policy = { ...CLOSED_POLICY, paused: { all: true }, agents };

  it('leaves pauses and agents as they are when the file does not speak of them', () => {
    expect(applyPolicyFile(read('roles: { ops: [ann] }'), current)).toStrictEqual({
      ...current,
      roles: { ops: ['ann'] },
    });
  });

  it('keptParts names what stays and says something', () => {
    const strict: Policy = { ...CLOSED_POLICY, agents, unmatched: 'deny', rules: [], requesterMayDecide: false };
    expect(keptParts(read('roles: {}'), strict)).toEqual(['agents', 'unmatched', 'requesterMayDecide']);
    expect(keptParts(read('unmatched: allow\nagents: null'), strict)).toEqual(['requesterMayDecide']);
    expect(keptParts(read('roles: {}'), CLOSED_POLICY)).toEqual([]);
  });

  it('takes over pauses and agents that the file speaks of, none included', () => {
    const text = 'paused: {}\nagents: { other: { selection: [] } }';
    expect(applyPolicyFile(read(text), current)).toStrictEqual({
      ...CLOSED_POLICY,
      agents: { other: { selection: [] } },
    });
    expect(applyPolicyFile(read('agents: {}'), current).agents).toStrictEqual({});
  });

  it('takes over agents of tenants that the file speaks of, and leaves them as they are otherwise', () => {
    const text =
      'tenants: { acme: { agents: { main: { selection: [{ module: a, tools: [x] }, { module: a, tools: [y] }] } } } }';
    const file = read(text);
    const own = { acme: { agents: { main: { selection: [{ module: 'a', tools: ['x', 'y'] }] } } } };
    expect(applyPolicyFile(file, current)).toStrictEqual({ ...current, tenants: own });
    expect(file.warnings).toEqual([
      'tenants.acme.agents.main has several entries for module a; together they select x, y',
    ]);
    expect(applyPolicyFile(read('roles: {}'), { ...current, tenants: own }).tenants).toStrictEqual(own);
    expect(applyPolicyFile(read('agents: null'), { ...current, tenants: own }).tenants).toStrictEqual(own);
    for (const none of ['tenants: null', 'tenants: {}']) {
      expect(applyPolicyFile(read(none), { ...current, tenants: own })).toStrictEqual(current);
    }
    const tools = [{ id: 'a.x', privileged: false }];
    expect(findPolicyWarnings({ ...CLOSED_POLICY, tenants: own }, tools, nearNames)).toEqual([
      'tenants.acme.agents.main selects a.y, which is not published, did you mean a.x?',
    ]);
    expect(problemOf('tenants: { acme: { agent: {} } }')).toContain('policy.yaml:1:20');
    expect(problemOf('tenants: { a/b: { agents: {} } }')).toContain('a tenant has no slash');
  });

  it('ends the selecting when the file says that there are no agents', () => {
    expect(applyPolicyFile(read('agents: null'), current)).toStrictEqual({ ...CLOSED_POLICY, paused: { all: true } });
  });

  it('leaves rules and what belongs to them as they are when the file does not speak of them, and takes over what it says', () => {
    const ruled: Policy = {
      ...CLOSED_POLICY,
      rules: [{ id: 'a', verdict: 'deny' }],
      unmatched: 'deny',
      approvers: ['ann'],
      requesterMayDecide: true,
    };
    expect(applyPolicyFile(read('roles: {}'), ruled)).toStrictEqual(ruled);
    const text = 'rules: []\nunmatched: ask\napprovers: []\nrequesterMayDecide: false';
    expect(applyPolicyFile(read(text), ruled)).toStrictEqual({
      ...CLOSED_POLICY,
      rules: [],
      unmatched: 'ask',
      approvers: [],
      requesterMayDecide: false,
    });
  });

  it('does not begin to select with a file that says nothing of agents', () => {
    expect(applyPolicyFile(read('roles: {}'), CLOSED_POLICY)).toStrictEqual(CLOSED_POLICY);
  });
});

describe('findPolicyWarnings', () => {
  const tools = [
    { id: 'clock.now', privileged: false },
    { id: 'shell.run', privileged: true },
  ];
  const warningsOf = (text: string): string[] => findPolicyWarnings(read(text).policy, tools, nearNames);

  it.each([
    [
      'permissions: { clock.nwo: { allow: ["*"] } }',
      'permissions.clock.nwo matches no published tool, did you mean clock.now?',
    ],
    [
      'permissions: { "clok.*": { allow: [ann] } }',
      'permissions.clok.* matches no published tool, did you mean clock.*?',
    ],
    ['paused: { tools: [shell.rum] }', 'paused.tools shell.rum matches no published tool, did you mean shell.run?'],
    [
      'permissions: { clock.now: { allow: [ann, bo], deny: [ann] } }',
      'permissions.clock.now allows and denies ann; deny wins',
    ],
    [
      'permissions: { clock.now: { allow: [ann], deny: ["*"] } }',
      'permissions.clock.now denies everybody; its allow list has no effect',
    ],
    [
      'permissions: { clock.now: { allow: ["*"], deny: [" eve"] } }',
      'permissions.clock.now names " eve": the blank at its start or end is part of the name',
    ],
    [
      'permissions: { clock.now: { allow: ["acme/ eve"] } }',
      'permissions.clock.now names "acme/ eve": the blank at its start or end is part of the name',
    ],
    ['roles: { ops: ["eve "] }', 'roles.ops names "eve ": the blank at its start or end is part of the name'],
    ['approvers: ["eve\u00a0"]', 'approvers names "eve\u00a0": the blank at its start or end is part of the name'],
    [
      'rules: [{ id: a, verdict: deny, subjects: [" eve"] }]',
      'rule "a" names " eve": the blank at its start or end is part of the name',
    ],
    [
      'rules: [{ id: a, verdict: ask, ask: { approvers: [" eve"] } }]',
      'rule "a" names " eve": the blank at its start or end is part of the name',
    ],
    [
      'permissions: { "shell.*": { allow: ["*"] } }',
      'permissions.shell.* allows *, but shell.run is privileged and stays closed without names',
    ],
    [
      'agents: { main: { selection: [{ module: clock, tools: [now, nwo] }] } }',
      'agents.main selects clock.nwo, which is not published, did you mean clock.now?',
    ],
    [
      'agents: { main: { selection: [{ module: clock, tools: [now] }, { module: shel, tools: all }] } }',
      'agents.main selects module shel, which is not published, did you mean shell?',
    ],
    ['agents: { main: { selection: [] } }', 'agents.main selects nothing: it has no tools'],
    [
      'agents: { main: { selection: [{ module: clock, tools: { now: false } }] } }',
      'agents.main selects nothing: it has no tools',
    ],
    ['agents: {}', 'agents is empty: no agent has any tool; agents: null leaves it to the permissions'],
    [
      'loops: { default: { budgets: { callsPerTool: { clock.nwo: 3 } } } }',
      'loops.default.budgets.callsPerTool.clock.nwo matches no published tool, did you mean clock.now?',
    ],
    [
      'agents: { main: { selection: [{ module: clock, tools: all }] } }\nloops: { agents: { mian: { enabled: false } } }',
      'loops.agents.mian names no declared agent, did you mean main?',
    ],
  ])('finds in %s', (text, warning) => {
    expect(warningsOf(text)).toStrictEqual([warning]);
  });

  it('warns of unknown names, and of a selection that matches nothing', () => {
    const text = 'agents: { main: { selection: [{ module: clock, tools: [noww] }] } }';
    expect(warningsOf(text)).toStrictEqual([
      'agents.main selects clock.noww, which is not published, did you mean clock.now?',
      'agents.main has no tools: its selection matches nothing that is published',
    ]);
    expect(findPolicyWarnings(read(text).policy, undefined, nearNames)).toStrictEqual([]);
  });

  it('knows the agents of tenants, and takes every name where no agent is declared', () => {
    const loops = 'loops: { agents: { desk: { enabled: false } } }';
    const selection = 'selection: [{ module: clock, tools: all }]';
    expect(warningsOf(`tenants: { acme: { agents: { desk: { ${selection} } } } }\n${loops}`)).toStrictEqual([]);
    expect(warningsOf(loops)).toStrictEqual([]);
  });

  it('has no doubt about a selection of everything', () => {
    expect(warningsOf('agents: { main: { selection: [{ module: "*", tools: all }] } }')).toStrictEqual([]);
  });

  it('finds nothing in a plain policy, and compares nothing without a catalog', () => {
    const text = 'roles: { ops: [ann] }\npermissions: { "*": { allow: ["*"] }, shell.run: { allow: ["role:ops"] } }';
    expect(warningsOf(text)).toStrictEqual([]);
    expect(findPolicyWarnings(read('permissions: { a.b: {} }').policy, undefined, nearNames)).toStrictEqual([]);
  });
});
