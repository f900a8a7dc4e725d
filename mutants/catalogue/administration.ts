import type { Mutant } from '../mutant.ts';

/** Bugs against the requirements in requirements/rows-administration.ts: the audit records who changed what. */
export const ADMINISTRATION: readonly Mutant[] = [
  {
    id: 'audit-does-not-name-the-hook',
    bug: 'The record of a call that a hook blocked does not say which hook it was.',
    file: 'src/stages/settle/encode-audit.ts',
    find: '    ...(gate.hook === undefined ? {} : { hook: gate.hook }),\n',
    replace: '',
    caughtBy: [
      { file: 'src/stages/settle/encode-audit.test.ts', title: 'names the hook that refused a call' },
      { file: 'test/plane/gate-hooks.test.ts', title: 'that fail block with one sentence' },
    ],
  },
  {
    id: 'policy-changes-without-a-record',
    bug: 'The embedded store writes a new policy and no audit record.',
    file: 'src/stores/embedded/transitions/policy.ts',
    find: '  appendAdministration(transaction, recordOfPolicy(readPolicy(transaction).policy, policy, version, request));\n',
    replace: '  void recordOfPolicy;\n  void appendAdministration;\n',
    caughtBy: [{ file: 'test/contract/embedded.test.ts', title: 'a change of the policy is in the audit with who' }],
  },
  {
    id: 'policy-is-written-before-its-record',
    bug: 'On Redis a policy holds although its audit record could not be written.',
    file: 'src/stores/redis/functions/write-policy.lua',
    find: 'local records = {}\nadd_audit',
    replace:
      "redis.call('HSET', policy, 'version', next_version, 'digest', '', 'body', body)\nlocal records = {}\nadd_audit",
    caughtBy: [{ file: 'test/redis/administration.test.ts', title: 'is not made: policy, token and session stay' }],
  },
  {
    id: 'record-names-the-wrong-actor',
    bug: 'The actor of every change is written down as unknown.',
    file: 'src/stores/administrative-record.ts',
    find: "by: shorten(actor?.by ?? 'unknown', nameLength),",
    replace: "by: shorten('unknown', nameLength),",
    caughtBy: [{ file: 'test/contract/redis.test.ts', title: 'a change of the policy is in the audit with who' }],
  },
  {
    id: 'gateway-hides-who-revoked',
    bug: 'The gateway revokes a token without saying who asked for it.',
    file: 'src/gateway/api/tokens.ts',
    find: 'await store.revokeToken({ id, actor })',
    replace: 'await store.revokeToken({ id, ...(actor.by === id ? { actor } : {}) })',
    caughtBy: [{ file: 'test/gateway/administration.test.ts', title: 'over HTTP is in the audit' }],
  },
  {
    id: 'refused-logins-fill-the-audit',
    bug: 'Every refused login has a record, however many there are.',
    file: 'src/gateway/http/login-refusals.ts',
    find: "if (limit.take('') > 0) {",
    replace: "if (limit.take('') < 0) {",
    caughtBy: [{ file: 'src/gateway/http/login-refusals.test.ts', title: 'are bounded' }],
  },
];
