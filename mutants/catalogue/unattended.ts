import type { Mutant } from '../mutant.ts';

const RULES = 'test/plane/gate-rules.test.ts';
const OVER_HTTP = 'test/gateway/requesters.test.ts';
const IN_SESSIONS = 'in an unattended session, in its delegates and in an unattended run';
const NO_PERSON_ASKED =
  'no person is asked by an unattended token, session or run, and no request of the bearer makes one attended';

/** Bugs against the requirements in requirements/rows-unattended.ts: work that no person watches. */
export const UNATTENDED: readonly Mutant[] = [
  {
    id: 'unattended-sessions-ask',
    bug: 'A person is asked about calls of a session that was opened unattended.',
    file: 'src/domain/identity/unattended.ts',
    find: 'if (identity.unattended === true) return',
    replace: 'if (identity.subject === undefined) return',
    caughtBy: [
      { file: RULES, title: IN_SESSIONS },
      { file: 'src/domain/identity/unattended.test.ts', title: 'names the session, and the run' },
    ],
  },
  {
    id: 'unattended-runs-ask',
    bug: 'A person is asked about calls of a run that was opened unattended.',
    file: 'src/stages/gate/ask-approval.ts',
    find: '{ identity: call.identity, run: delivery.run }',
    replace: "{ identity: call.identity, run: '' }",
    caughtBy: [{ file: RULES, title: IN_SESSIONS }],
  },
  {
    id: 'delegates-are-attended',
    bug: 'A delegate of an unattended session can ask a person again.',
    file: 'src/client/open-session.ts',
    find: 'const isUnattended = parent.identity.unattended === true || ',
    replace: 'const isUnattended = ',
    caughtBy: [
      { file: 'src/client/open-session.test.ts', title: 'an unattended session has unattended delegates' },
      { file: RULES, title: IN_SESSIONS },
    ],
  },
  {
    id: 'requests-make-sessions-attended',
    bug: 'The bearer of an unattended token opens an attended session by saying so.',
    file: 'src/gateway/open-for-token.ts',
    find: '{ ...options, unattended: true }',
    replace: '{ unattended: true, ...options }',
    caughtBy: [{ file: OVER_HTTP, title: NO_PERSON_ASKED }],
  },
  {
    id: 'named-unattended-runs-are-attended',
    bug: 'A run whose name says that it is unattended is opened like any other.',
    file: 'src/gateway/agent-sessions.ts',
    find: 'const unattended = isUnattendedRun(name);',
    replace: 'const unattended = false;',
    caughtBy: [
      { file: 'src/gateway/agent-sessions.test.ts', title: 'an unattended run for a name that says so' },
      { file: OVER_HTTP, title: NO_PERSON_ASKED },
    ],
  },
  {
    id: 'unattended-runs-of-a-gate-open-attended-ones',
    bug: 'A run that an unattended run of a gate opens asks a person.',
    file: 'src/gate/wrap/create-gate.ts',
    find: 'run.unattended === true ? openRun({ ...next, unattended: true }) : openRun(next)',
    replace: 'openRun(next)',
    caughtBy: [
      { file: 'src/gate/wrap/gate-approvals.test.ts', title: 'is not asked for in a run that was opened unattended' },
    ],
  },
  {
    id: 'explain-promises-a-person',
    bug: 'explain says that a person would be asked where none is.',
    file: 'src/domain/policy/explain-call.ts',
    find: "const passes = verdict !== 'deny' && !isDenied;",
    replace: "const passes = verdict !== 'deny';",
    caughtBy: [
      { file: 'src/domain/policy/explain-call.test.ts', title: 'denies what asks a person where no person watches' },
    ],
  },
];

const AGENT = 'src/domain/identity/agent.test.ts';

/** Bugs against the requirements in requirements/rows-unattended.ts that are about what is declared for the agents of one tenant. */
export const TENANT_AGENTS: readonly Mutant[] = [
  {
    id: 'general-declarations-win',
    bug: 'What is declared in general wins over what is declared for the tenant.',
    file: 'src/domain/identity/agent.ts',
    find: 'return declaredAt(policy, name, tenant) ?? declaredAt(policy, name);',
    replace: 'return declaredAt(policy, name) ?? declaredAt(policy, name, tenant);',
    caughtBy: [
      { file: AGENT, title: 'in place of the general declaration, and there only' },
      { file: 'test/plane/agents.test.ts', title: 'have in a tenant what they declared for it' },
    ],
  },
  {
    id: 'tenants-do-not-select-alone',
    bug: 'A tenant with agents of its own does not select where the deployment does not.',
    file: 'src/domain/identity/agent.ts',
    find: 'return policy.agents !== undefined || agentsOfTenant(policy, tenant) !== undefined;',
    replace: 'return policy.agents !== undefined;',
    caughtBy: [{ file: AGENT, title: 'selects in that tenant alone where the deployment does not select' }],
  },
  {
    id: 'toolkits-ignore-the-tenant',
    bug: 'A toolkit shows the general declaration to an agent of a tenant that has its own.',
    file: 'src/domain/tool/toolkit.ts',
    find: 'const selections = isOpen ? [] : agentsOf(identity).map((name) => findAgent(policy, identity.tenant, name));',
    replace: "const selections = isOpen ? [] : agentsOf(identity).map((name) => findAgent(policy, '', name));",
    caughtBy: [{ file: 'test/plane/agents.test.ts', title: 'have in a tenant what they declared for it' }],
  },
  {
    id: 'changes-for-a-tenant-are-general',
    bug: 'A declaration for one tenant is written for all of them.',
    file: 'src/operate/declare-agents.ts',
    find: 'return withAgents(current, Object.fromEntries(agents), tenant);',
    replace: 'return withAgents(current, Object.fromEntries(agents));',
    caughtBy: [
      { file: 'src/operate/declare-agents.test.ts', title: 'begins the selecting of one tenant' },
      { file: 'test/plane/agents.test.ts', title: 'have in a tenant what they declared for it' },
    ],
  },
  {
    id: 'audit-forgets-the-tenant-of-agents',
    bug: 'The audit says which agent changed, and not for which tenant.',
    file: 'src/stores/policy-changes.ts',
    find: 'agents.push(...changes.map((change) => `tenant ${tenant}: ${change}`));',
    replace: 'agents.push(...changes);',
    caughtBy: [
      { file: 'test/contract/embedded.test.ts', title: 'pausing, resuming and agents have events of their own' },
    ],
  },
];
