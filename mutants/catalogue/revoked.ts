import type { Mutant } from '../mutant.ts';

const CONTRACT_REDIS = 'test/contract/redis.test.ts';
const CONTRACT_EMBEDDED = 'test/contract/embedded.test.ts';
const REDIS_TEST = 'test/redis/token-revocation.test.ts';
const GATEWAY_TEST = 'test/gateway/token-revocation.test.ts';

/** Bugs against the requirements in requirements/rows-revoked.ts: what ends with a revoked token, even if a process dies in between. */
export const REVOKED: readonly Mutant[] = [
  {
    id: 'revoked-tokens-keep-their-sessions',
    bug: 'Sessions that gateways opened for a token live on when it is revoked, with the questions that wait in them.',
    file: 'src/stores/redis/revoke-token.ts',
    find: 'left.map((session) => sessions.revokeSession({ ...request, session: session as SessionId })),',
    replace: 'left.map(async (session) => session),',
    caughtBy: [
      { file: CONTRACT_REDIS, title: 'a revoked token takes along the sessions that were noted for it, and no others' },
    ],
  },
  {
    id: 'embedded-revoked-tokens-keep-their-sessions',
    bug: 'The embedded store revokes a token without its sessions.',
    file: 'src/stores/embedded/transitions/tokens.ts',
    find: "  revokeSessionsOf(transaction, request);\n  return 'revoked';",
    replace: "  return 'revoked';",
    caughtBy: [{ file: CONTRACT_EMBEDDED, title: 'a question of a revoked token can no longer be decided' }],
  },
  {
    id: 'killed-revocations-leave-no-mark',
    bug: 'A process that is killed in the middle of a revocation leaves nothing that another one could finish.',
    file: 'src/stores/redis/functions/revoke-token.lua',
    find: "redis.call('ZADD', revoking, 'NX', text(now), id)",
    replace: '',
    caughtBy: [{ file: REDIS_TEST, title: 'is killed in the middle leaves a mark' }],
  },
  {
    id: 'unreachable-lanes-are-forgotten',
    bug: 'A revocation answers although a lane could not be reached.',
    file: 'src/stores/redis/revoke-token.ts',
    find: 'if (failures > 0) throw failure;',
    replace: '',
    caughtBy: [{ file: REDIS_TEST, title: 'a lane that cannot be written keeps only its own sessions' }],
  },
  {
    id: 'large-tokens-keep-sessions',
    bug: 'A revocation ends after the first batch of sessions.',
    file: 'src/stores/redis/revoke-token.ts',
    find: 'if (left.length === 0) break;',
    replace: 'if (left.length === 0 || done.length > 0) break;',
    caughtBy: [{ file: REDIS_TEST, title: 'a token with more sessions than one step revokes' }],
  },
  {
    id: 'short-notes-forget-long-sessions',
    bug: 'The list of a token expires with the session that was noted last.',
    file: 'src/stores/redis/functions/note-token-session.lua',
    find: "redis.call('PEXPIREAT', sessions, redis.call('ZREVRANGE', sessions, 0, 0, 'WITHSCORES')[2])",
    replace: "redis.call('PEXPIREAT', sessions, text(now + lifetime_ms))",
    caughtBy: [{ file: REDIS_TEST, title: 'a short session that is noted last' }],
  },
  {
    id: 'gateways-finish-nothing',
    bug: 'A gateway that runs does not look for revocations that another process left.',
    file: 'src/gateway/finish-revocations.ts',
    find: 'const EVERY_MS = 1000;',
    replace: 'const EVERY_MS = 2 ** 31 - 1;',
    caughtBy: [{ file: GATEWAY_TEST, title: 'is finished by another gateway without any request' }],
  },
  {
    id: 'command-line-decides-first',
    bug: 'The command line allows a question whose token is marked as revoked.',
    file: 'src/cli/commands/approvals-decide.ts',
    find: '          await finishRevocations(store, SILENT);\n',
    replace: '',
    caughtBy: [{ file: GATEWAY_TEST, title: 'is finished by the command line' }],
  },
  {
    id: 'sessions-outlive-their-operator',
    bug: 'A session that an operator opened over HTTP lives on when the token of the operator is revoked.',
    file: 'src/gateway/api/sessions.ts',
    find: 'openForToken(client, store, ',
    replace: 'openForToken(client, undefined, ',
    caughtBy: [{ file: GATEWAY_TEST, title: 'takes along the sessions that it opened for others' }],
  },
  {
    id: 'refused-sessions-are-given-out',
    bug: 'A session is given out although its token was revoked while it was opened.',
    file: 'src/gateway/open-for-token.ts',
    find: "if (noted !== 'ended') return handle;",
    replace: "if (noted !== undefined || noted !== 'ended') return handle;",
    caughtBy: [
      {
        file: 'src/gateway/agent-sessions.test.ts',
        title: 'revoke a session whose token was revoked while it was opened',
      },
    ],
  },
  {
    id: 'sessions-outlive-expired-tokens',
    bug: 'A session lives for a minute, however soon its token expires.',
    file: 'src/gateway/agent-sessions.ts',
    find: 'Math.max(1, Math.min(',
    replace: 'Math.max(60_000, Math.min(',
    caughtBy: [{ file: GATEWAY_TEST, title: 'has sessions that end when it expires' }],
  },
  {
    id: 'revoked-administrators-act-on',
    bug: 'An administrator whose token was revoked makes another one at a gateway that has just proved it.',
    file: 'src/gateway/http/authenticate.ts',
    find: 'const mustAsk = forChange && ',
    replace: 'const mustAsk = !forChange && forChange && ',
    caughtBy: [{ file: GATEWAY_TEST, title: 'makes no other token, opens no session' }],
  },
  {
    id: 'revoked-links-log-in',
    bug: 'A login link that is revoked while it is redeemed logs a browser in.',
    file: 'src/gateway/login-link.ts',
    find: 'const isLinkGood = (await store.proveToken(read)) !== undefined;',
    replace: 'const isLinkGood = read !== undefined;',
    caughtBy: [{ file: CONTRACT_REDIS, title: 'a login link that is revoked while it is redeemed' }],
  },
];
