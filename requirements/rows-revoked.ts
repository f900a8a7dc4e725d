import { onBothStores, test, type Requirement } from './requirement.ts';

const GATEWAY = 'test/gateway/token-revocation.test.ts';
const REDIS = 'test/redis/token-revocation.test.ts';

/** Requirements: what the revocation of a token promises, whichever process dies in between. */
export const ROWS_REVOKED: readonly Requirement[] = [
  {
    id: 'RV1',
    says: 'When the revocation of a token answers, over HTTP or at the command line, all sessions that were opened with it are revoked in every lane, whichever gateway opened them, also those that an operator opened for others.',
    tests: [
      ...onBothStores('a revoked token takes along the sessions that were noted for it, and no others'),
      ...onBothStores('revoking a token answers when its sessions are revoked, in every lane'),
      ...onBothStores('a token is revoked by many at once, and each of them answers when its sessions are revoked'),
      test(GATEWAY, 'has no session left when the API answers, and no question of it can be allowed'),
      test(GATEWAY, 'has no session left when the command line answers'),
      test(GATEWAY, 'takes along the sessions that it opened for others, in every lane'),
      test(REDIS, 'a token with more sessions than one step revokes is revoked with all of them'),
      test(REDIS, 'a short session that is noted last does not make the longer ones of its token forgotten'),
    ],
    mutants: [
      'revoked-tokens-keep-their-sessions',
      'large-tokens-keep-sessions',
      'short-notes-forget-long-sessions',
      'sessions-outlive-their-operator',
    ],
  },
  {
    id: 'RV2',
    says: 'No call of a revoked token starts: its questions can no longer be decided, what was allowed before is not started, and it calls and changes nothing at a gateway that has just proved it.',
    tests: [
      ...onBothStores('a question of a revoked token can no longer be decided, and ends at the next reap'),
      ...onBothStores('a call that was allowed before its token was revoked does not start after it'),
      ...onBothStores('a login link that is revoked while it is redeemed gives no login'),
      test(GATEWAY, 'calls nothing at a gateway that has just proved it'),
      test(GATEWAY, 'makes no other token, opens no session and decides nothing at a gateway that has just proved it'),
      test(GATEWAY, 'has sessions that end when it expires, and not a minute later'),
    ],
    mutants: [
      'embedded-revoked-tokens-keep-their-sessions',
      'revoked-administrators-act-on',
      'revoked-links-log-in',
      'sessions-outlive-expired-tokens',
    ],
  },
  {
    id: 'RV3',
    says: 'A session that is opened while its token is revoked is revoked with it, or never given out.',
    tests: [
      ...onBothStores('a session that is opened while its token is revoked is either revoked with it or refused'),
      test('src/gateway/agent-sessions.test.ts', 'revoke a session whose token was revoked while it was opened'),
      test(GATEWAY, 'leaves no session that a gateway opens while it is revoked'),
    ],
    mutants: ['refused-sessions-are-given-out'],
  },
  {
    id: 'RV4',
    says: 'A revocation that is killed with -9 in the middle, or cannot reach a lane, is finished by a gateway that lives, by the next one before its first request, or by the next decision; also one that an earlier release began.',
    tests: [
      test(GATEWAY, 'is finished by a gateway that lives, before it lets a question of the token be allowed'),
      test(GATEWAY, 'is finished by another gateway without any request, in every lane'),
      test(GATEWAY, 'is finished by the command line, before it lets a question of the token be allowed'),
      test(GATEWAY, 'is finished by the next gateway before that serves its first request'),
      test(REDIS, 'a lane that cannot be written keeps only its own sessions'),
      test(REDIS, 'a token whose revocation an earlier release began, and left without a mark'),
      test(REDIS, 'a process of an earlier release that is killed in the middle leaves a mark'),
      test(REDIS, 'a token that is forgotten in the middle of its revocation is finished all the same'),
    ],
    mutants: [
      'killed-revocations-leave-no-mark',
      'unreachable-lanes-are-forgotten',
      'gateways-finish-nothing',
      'command-line-decides-first',
    ],
  },
];
