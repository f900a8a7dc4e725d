import { onBothStores, test, type Requirement } from './requirement.ts';

const RULES = 'test/plane/gate-rules.test.ts';
const OVER_HTTP = 'test/gateway/requesters.test.ts';

/** Requirements for work that no person watches. */
export const ROWS_UNATTENDED: readonly Requirement[] = [
  {
    id: 'UN1',
    says: 'A session, a run, a token or an agent can be unattended: what a person would be asked about ends at once with APPROVAL_DENIED_AT_ONCE, and its reason says which of them it is. What needs no person runs.',
    tests: [
      ...onBothStores('an unattended session and an unattended run reach the worker with the call'),
      test(RULES, 'in an unattended session, in its delegates and in an unattended run'),
      test(RULES, 'of an unattended agent, or one that acts for it'),
      test(
        OVER_HTTP,
        'no person is asked by an unattended token, session or run, and no request of the bearer makes one attended',
      ),
      test('src/gateway/agent-sessions.test.ts', 'an unattended run for a name that says so'),
      test('src/gate/wrap/gate-approvals.test.ts', 'is not asked for in a run that was opened unattended'),
      test('test/cli/rules.test.ts', 'an unattended session, call or token asks no person'),
    ],
    mutants: ['unattended-sessions-ask', 'unattended-runs-ask', 'named-unattended-runs-are-attended'],
  },
  {
    id: 'UN2',
    says: 'Nothing takes it back: neither a request with an unattended token, nor a delegate, nor a run that an unattended one opens is attended again.',
    tests: [
      test('src/domain/identity/unattended.test.ts', 'stays where one says attended and another does not'),
      test('src/client/open-session.test.ts', 'an unattended session has unattended delegates'),
      test('src/client/open-session.test.ts', 'what is neither true nor false is not taken for attended'),
      test(
        OVER_HTTP,
        'no person is asked by an unattended token, session or run, and no request of the bearer makes one attended',
      ),
      test('src/gate/wrap/gate-approvals.test.ts', 'is not asked for in a run that was opened unattended'),
    ],
    mutants: [
      'delegates-are-attended',
      'requests-make-sessions-attended',
      'unattended-runs-of-a-gate-open-attended-ones',
    ],
  },
  {
    id: 'UN3',
    says: 'explain says deny, and why, where a person would be asked and none watches.',
    tests: [
      test('src/domain/policy/explain-call.test.ts', 'denies what asks a person where no person watches'),
      test('test/cli/rules.test.ts', 'an unattended session, call or token asks no person'),
    ],
    mutants: ['explain-promises-a-person'],
  },
];

const AGENT = 'src/domain/identity/agent.test.ts';

/** Requirements for agents that are declared for one tenant. */
export const ROWS_TENANT_AGENTS: readonly Requirement[] = [
  {
    id: 'TA1',
    says: 'An agent can be declared for one tenant. There its own declaration stands in place of the general one, in the toolkit and again at execution; other tenants see nothing of it. Policies without such declarations mean what they meant.',
    tests: [
      test(AGENT, 'in place of the general declaration, and there only'),
      test(AGENT, 'does not show one tenant’s agent to another'),
      test(AGENT, 'narrows a delegate by what its delegators declared for the tenant'),
      test(AGENT, 'selects in that tenant alone where the deployment does not select'),
      test('test/plane/agents.test.ts', 'have in a tenant what they declared for it'),
      test('src/operate/declare-agents.test.ts', 'begins the selecting of one tenant'),
      test('src/gate/policy/policy-file.test.ts', 'takes over agents of tenants that the file speaks of'),
    ],
    mutants: [
      'general-declarations-win',
      'tenants-do-not-select-alone',
      'toolkits-ignore-the-tenant',
      'changes-for-a-tenant-are-general',
    ],
  },
  {
    id: 'TA2',
    says: 'Commands, explain, the matrix, the list of agents, doctor and the audit say for which tenant an agent is declared.',
    tests: [
      ...onBothStores('pausing, resuming and agents have events of their own'),
      test('test/cli/agents.test.ts', 'say for which tenant an agent is declared'),
      test('test/gateway/front.test.ts', 'and the list of agents show what is declared for a tenant'),
      test('src/domain/policy/explain-call.test.ts', 'names the tenant of a declaration that decides'),
      test('src/operate/inspect-policy.test.ts', 'counts the agents of each tenant'),
    ],
    mutants: ['audit-forgets-the-tenant-of-agents'],
  },
];
