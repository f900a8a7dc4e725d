import { onBothStores, test, type Requirement } from './requirement.ts';

/** Requirements: the audit records who changed what, and which hook refused a call. */
export const ROWS_ADMINISTRATION: readonly Requirement[] = [
  {
    id: 'ADM1',
    says: 'The audit record of a call that a hook blocked, failed on or timed out on names the hook. The model is not told.',
    tests: [
      test('src/stages/settle/encode-audit.test.ts', 'names the hook that refused a call'),
      test('test/plane/gate-hooks.test.ts', 'block with their reason'),
      test('test/plane/gate-hooks.test.ts', 'that fail block with one sentence'),
      test('src/gateway/api/call-timeline.test.ts', 'names the hook'),
      test('src/gate/wrap/gate-events.test.ts', 'stops say who it was'),
    ],
    mutants: ['audit-does-not-name-the-hook'],
  },
  {
    id: 'ADM2',
    says: 'Administration is audited, with who: policy, agents, pauses, tokens, sessions and logins. The change and its record are one step.',
    tests: [
      ...onBothStores('a change of the policy is in the audit with who'),
      ...onBothStores('pausing, resuming and agents have events of their own'),
      ...onBothStores('of two writers at once only the one that won is in the audit'),
      ...onBothStores('tokens are in the audit when they are made and revoked'),
      ...onBothStores('a session is in the audit when it is opened and revoked'),
      test('test/embedded/administration.test.ts', 'is not made: policy, token and session stay'),
      test('test/redis/administration.test.ts', 'is not made: policy, token and session stay'),
      test('test/gateway/administration.test.ts', 'by commands is in the audit'),
      test('test/gateway/administration.test.ts', 'over HTTP is in the audit'),
    ],
    mutants: [
      'policy-changes-without-a-record',
      'policy-is-written-before-its-record',
      'record-names-the-wrong-actor',
      'gateway-hides-who-revoked',
    ],
  },
  {
    id: 'ADM3',
    says: 'Logins at the console are audited, refused ones too, and nobody can fill the audit by guessing.',
    tests: [
      ...onBothStores('a login is in the audit'),
      test('test/gateway/administration.test.ts', 'of the console: logins'),
      test('src/gateway/http/login-refusals.test.ts', 'are bounded'),
    ],
    mutants: ['refused-logins-fill-the-audit'],
  },
  {
    id: 'ADM4',
    says: "A role's password hides a change of the policy from workers for a second at most, and what it writes over the version of a lane is put right or stops the lane.",
    tests: [
      test('src/worker/policy-cache.test.ts', 'hides a newer policy for a second at most'),
      test('src/worker/policy-cache.test.ts', 'a policy that cannot be confirmed is not used'),
      test('test/redis/policy-lanes.test.ts', 'is put right by the next reap, and one that may be real stays'),
    ],
    mutants: ['lanes-hide-the-policy', 'overwritten-lanes-stay'],
  },
];
