import { onBothStores, test, type Requirement } from './requirement.ts';

const OVER_HTTP = 'test/gateway/agents-of-one-subject.test.ts';
const DECIDING = 'test/gateway/requesters.test.ts';
const LIBRARY = 'src/client/agents-of-one-subject.test.ts';

/** Requirements: agents of one subject are kept apart, and who may decide their questions. */
export const ROWS_AGENTS: readonly Requirement[] = [
  {
    id: 'AG1',
    says: 'Keys belong to one agent of one subject. The key or the id of a call of another agent gives neither a replay nor a conflict, and is answered like a key that is new. Keys of earlier releases still replay for the agent that used them.',
    tests: [
      ...onBothStores('accept gives two agents of one subject different calls for the same key and body'),
      ...onBothStores('accept gives an agent neither a replay nor a conflict of a key that another agent has used'),
      ...onBothStores('accept takes the id of a call of another agent for a key like any other'),
      ...onBothStores('accept keeps the keys of an agent apart from those it uses when it acts for another one'),
      test(OVER_HTTP, 'an idempotency key of another agent neither replays nor conflicts'),
      test(OVER_HTTP, 'the id of a call of another agent is a key like any other'),
      test(OVER_HTTP, 'gets nothing for the id or the key of another agent'),
      test('test/deploy/upgrade.test.ts', 'goes on with its queued, running and parked calls'),
    ],
    mutants: [
      'keys-of-agents-are-shared-redis',
      'keys-of-agents-are-shared-embedded',
      'delegates-use-the-keys-of-their-agent',
      'old-keys-replay-for-every-agent-redis',
      'old-keys-replay-for-every-agent-embedded',
      'old-keys-are-forgotten-embedded',
    ],
  },
  {
    id: 'AG2',
    says: 'Result, wait, cancel, redirect, files, tasks, questions and grants of another agent of the same subject are answered like an unknown id. A delegator reaches what its delegates called.',
    tests: [
      ...onBothStores('cancel and redirect by another agent of the subject find no call, in any state'),
      ...onBothStores('a delegator reaches what its delegates called, and they do not reach what it called'),
      test(OVER_HTTP, 'of the call of another agent is answered like an unknown id'),
      test(OVER_HTTP, 'an MCP task of another agent is an unknown task'),
      test(LIBRARY, 'result and wait find no call of another agent'),
      test(LIBRARY, 'a session sees no question of another agent'),
      test('src/domain/identity/agent.test.ts', 'a delegate does not reach what its delegator called'),
    ],
    mutants: [
      'agents-cancel-each-others-calls-redis',
      'agents-cancel-each-others-calls-embedded',
      'agents-read-each-others-results',
      'delegates-read-what-their-delegator-called',
      'agents-see-each-others-questions',
    ],
  },
  {
    id: 'AG3',
    says: 'Who asks does not decide: a token that calls for a subject, or that opened the session of a call, decides none of its questions, whatever scopes it has and in whoever’s name it decides.',
    tests: [
      test('src/gateway/requesters.test.ts', 'calls for the subject of the question'),
      test('src/gateway/requesters.test.ts', 'opened the session, whomever it decides as'),
      test(DECIDING, 'a token with agent and approver decides neither its own calls nor others of its subject'),
      test(DECIDING, 'an admin that calls tools does not decide for its own subject either'),
      test(DECIDING, 'tokens of one name are one principal'),
      test(DECIDING, 'who opened a session does not decide the calls that are made in it'),
    ],
    mutants: [
      'callers-decide-for-their-subject',
      'openers-decide-the-calls-of-their-sessions',
      'requesters-decide-all-the-same',
    ],
  },
  {
    id: 'AG4',
    says: 'Opening sessions is a scope of its own; sessions keep who opened them. A console login has a name and scopes, and what it decides carries the name.',
    tests: [
      ...onBothStores('a session keeps who opened it'),
      test(DECIDING, 'opening sessions is a scope of its own, and operator is refused with its name'),
      test(DECIDING, 'a console login has a name and scopes, and what it decides carries the name'),
      test(DECIDING, 'a login link without a name is for who makes it'),
    ],
    mutants: ['operators-open-sessions', 'sessions-forget-who-opened-them-redis', 'logins-have-no-name'],
  },
];
