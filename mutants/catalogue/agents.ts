import type { Mutant } from '../mutant.ts';

const EMBEDDED = 'test/contract/embedded.test.ts';
const REDIS = 'test/contract/redis.test.ts';
const UPGRADE = 'test/deploy/upgrade.test.ts';
const OVER_HTTP = 'test/gateway/agents-of-one-subject.test.ts';
const DECIDING = 'test/gateway/requesters.test.ts';
const LUA = 'src/stores/redis/functions/';
const TRANSITIONS = 'src/stores/embedded/transitions/';
const REQUESTERS = 'src/gateway/requesters.ts';

/** Bugs against the requirements in requirements/rows-agents.ts: agents of one subject are kept apart, and not everyone may decide. */
export const AGENTS: readonly Mutant[] = [
  {
    id: 'keys-of-agents-are-shared-redis',
    bug: 'A key belongs to the subject alone: another agent of the subject gets the call.',
    file: `${LUA}shared/session.lua`,
    find: 'return own_prefix .. agents.digest(string.sub(asked, #prefix + 1), 14)',
    replace: 'return asked',
    caughtBy: [
      { file: REDIS, title: 'accept gives two agents of one subject different calls for the same key and body' },
    ],
  },
  {
    id: 'keys-of-agents-are-shared-embedded',
    bug: 'A key belongs to the subject alone: another agent of the subject gets the call.',
    file: `${TRANSITIONS}accept-call.ts`,
    find: 'const callId = callIdOfAgents(tagOf(session.identity), request.callId);',
    replace: 'const callId = request.callId;',
    caughtBy: [
      { file: EMBEDDED, title: 'accept gives two agents of one subject different calls for the same key and body' },
      { file: OVER_HTTP, title: 'an idempotency key of another agent neither replays nor conflicts' },
    ],
  },
  {
    id: 'delegates-use-the-keys-of-their-agent',
    bug: 'An agent that acts for another one has the keys that it has alone.',
    file: `${LUA}shared/session.lua`,
    find: 'table.concat({ known.agent, unpack(known.delegators or {}) }, ',
    replace: 'table.concat({ known.agent }, ',
    caughtBy: [
      { file: REDIS, title: 'accept keeps the keys of an agent apart from those it uses when it acts for another one' },
    ],
  },
  {
    id: 'old-keys-replay-for-every-agent-redis',
    bug: 'A call of an earlier release is replayed for every agent of its subject.',
    file: `${LUA}shared/generation.lua`,
    find: 'return known and known.record and agents.own(known, identity) and known',
    replace: 'return known',
    caughtBy: [{ file: REDIS, title: 'accept takes the id of a call of another agent for a key like any other' }],
  },
  {
    id: 'old-keys-replay-for-every-agent-embedded',
    bug: 'A call of an earlier release is replayed for every agent of its subject.',
    file: `${TRANSITIONS}accept-call.ts`,
    find: 'return holdsKey(found) && isSameAgent(found.identity, session.identity) ? found : undefined;',
    replace: 'return holdsKey(found) ? found : undefined;',
    caughtBy: [{ file: EMBEDDED, title: 'accept takes the id of a call of another agent for a key like any other' }],
  },
  {
    id: 'old-keys-are-forgotten-embedded',
    bug: 'A call of an earlier release is made again under its key.',
    file: `${TRANSITIONS}accept-call.ts`,
    find: 'const found = asked === callId ? undefined : findLastGeneration(transaction, asked);',
    replace: 'const found = asked === callId ? findLastGeneration(transaction, asked) : undefined;',
    caughtBy: [{ file: UPGRADE, title: 'goes on with its queued, running and parked calls' }],
  },
  {
    id: 'agents-cancel-each-others-calls-redis',
    bug: 'An agent can cancel and redirect the calls of the other agents of its subject.',
    file: `${LUA}shared/generation.lua`,
    find: 'return record and agents.reach(identity, fact(record, IDENTITY))',
    replace: 'return record',
    caughtBy: [{ file: REDIS, title: 'cancel and redirect by another agent of the subject find no call' }],
  },
  {
    id: 'agents-cancel-each-others-calls-embedded',
    bug: 'An agent can cancel the calls of the other agents of its subject.',
    file: `${TRANSITIONS}cancel-call.ts`,
    find: 'return mayReach(session.identity, call.identity);',
    replace: 'return call.keyId.startsWith(`0.${session.scope}.`);',
    caughtBy: [{ file: EMBEDDED, title: 'cancel and redirect by another agent of the subject find no call' }],
  },
  {
    id: 'agents-read-each-others-results',
    bug: 'An agent can read the outcome of a call of another agent of its subject.',
    file: 'src/client/client.ts',
    find: 'if (record === undefined || !reaches(identity, record.identity)) throw',
    replace: 'if (record === undefined) throw',
    caughtBy: [
      { file: OVER_HTTP, title: 'of the call of another agent is answered like an unknown id' },
      { file: 'src/client/agents-of-one-subject.test.ts', title: 'result and wait find no call of another agent' },
    ],
  },
  {
    id: 'delegates-read-what-their-delegator-called',
    bug: 'A delegate reaches the calls of its delegator.',
    file: 'src/domain/identity/agent.ts',
    find: 'own.every((agent, at) => agent === others[begins + at])',
    replace: 'others.every((agent, at) => agent === own[at - begins])',
    caughtBy: [
      { file: 'src/domain/identity/agent.test.ts', title: 'a delegate does not reach what its delegator called' },
    ],
  },
  {
    id: 'agents-see-each-others-questions',
    bug: 'A session sees the questions about the calls of the other agents of its subject.',
    file: 'src/client/approvals.ts',
    find: "if (isOfSubject && !reaches(identity, question.identity)) return 'stranger';",
    replace: '',
    caughtBy: [
      { file: 'src/client/agents-of-one-subject.test.ts', title: 'a session sees no question of another agent' },
    ],
  },
  {
    id: 'callers-decide-for-their-subject',
    bug: 'A token with agent and approver decides its own calls.',
    file: REQUESTERS,
    find: 'if (identity !== undefined && isSameSubject(identity, question.identity)) return true;',
    replace: '',
    caughtBy: [{ file: 'src/gateway/requesters.test.ts', title: 'calls for the subject of the question' }],
  },
  {
    id: 'openers-decide-the-calls-of-their-sessions',
    bug: 'A token opens a session for another subject, calls in it and allows the call.',
    file: REQUESTERS,
    find: 'if (opener.bearer === id) return true;',
    replace: '',
    caughtBy: [{ file: 'src/gateway/requesters.test.ts', title: 'opened the session, whomever it decides as' }],
  },
  {
    id: 'requesters-decide-all-the-same',
    bug: 'Who counts as the requester is shown no button, and decides all the same.',
    file: 'src/gateway/api/approvals.ts',
    find: "if ((await standingOfBearer(auth, approval, show)) !== 'approver') throw",
    replace: "if ((await standingOfBearer(auth, approval, show)) === 'stranger') throw",
    caughtBy: [{ file: DECIDING, title: 'a token with agent and approver decides neither its own calls' }],
  },
  {
    id: 'operators-open-sessions',
    bug: 'A token with the scope operator opens sessions for any subject.',
    file: 'src/gateway/api/sessions.ts',
    find: "scopes: ['sessions'],",
    replace: "scopes: ['operator', 'sessions'],",
    caughtBy: [
      { file: DECIDING, title: 'opening sessions is a scope of its own, and operator is refused with its name' },
    ],
  },
  {
    id: 'sessions-forget-who-opened-them-redis',
    bug: 'A session does not say who opened it.',
    file: `${LUA}open-session.lua`,
    find: "if opened_by and opened_by ~= '' then redis.call('HSET', key, 'openedBy', opened_by) end",
    replace: '',
    caughtBy: [{ file: REDIS, title: 'a session keeps who opened it' }],
  },
  {
    id: 'logins-have-no-name',
    bug: 'All logins of the console have one name.',
    file: 'src/gateway/login-link.ts',
    find: "link.name === NAMELESS ? 'console' : link.name",
    replace: "'console'",
    caughtBy: [
      { file: DECIDING, title: 'a console login has a name and scopes, and what it decides carries the name' },
    ],
  },
];
