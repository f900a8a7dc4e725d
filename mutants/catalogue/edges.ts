import type { Mutant } from '../mutant.ts';

const REDIS = 'test/contract/redis.test.ts';
const MODULES_TEST = 'test/catalog/load-modules.test.ts';
const MARKED_TEST = 'src/stages/settle/settle-outcome.test.ts';

/** Bugs in various places: requests on standard input, encoded paths, module names that look alike, unknown roles, texts of errors. */
export const EDGES: readonly Mutant[] = [
  {
    id: 'an-error-repeats-a-marked-argument-in-its-content',
    bug: 'The content of an error shows an argument that the schema marks as secret; only its message is masked.',
    file: 'src/stages/settle/mask-error.ts',
    find: 'content: content.map((block) => maskBlock(block, mask)),',
    replace: 'content,',
    caughtBy: [{ file: MARKED_TEST, title: 'masks secret arguments that an error repeats, and no name of the plane' }],
  },
  {
    id: 'standard-input-runs-two-requests-with-one-id',
    bug: 'A second request with the id of an open one is run over standard input.',
    file: 'src/gateway/mcp/watched-stdio.ts',
    find: 'if (asked !== undefined && this.#open.has(asked)) return',
    replace: "if (asked === 'never' && this.#open.has(asked)) return",
    caughtBy: [{ file: 'test/mcp/strict-stdio.test.ts', title: 'names one open request: a second one runs nothing' }],
  },
  {
    id: 'a-path-is-found-however-it-is-encoded',
    bug: 'The gateway serves /v1/%6de as /v1/me, which a proxy that looks at paths does not know.',
    file: 'src/gateway/http/guard.ts',
    find: '!ENCODED_TRICK.test(segment) &&',
    replace: '',
    caughtBy: [{ file: 'src/gateway/http/guard.test.ts', title: 'refuses' }],
  },
  {
    id: 'a-new-module-displaces-a-published-one-that-looks-alike',
    bug: 'Of two modules that a reader could confuse the first file is served, also if the other one was published before.',
    file: 'src/modules/catalog/load-modules.ts',
    find: '[...found.filter(isEstablished), ...found.filter((one) => !isEstablished(one))]',
    replace: 'found',
    caughtBy: [{ file: MODULES_TEST, title: 'T04 serves the published one of two modules' }],
  },
  {
    id: 'a-denied-role-that-does-not-exist-is-accepted',
    bug: 'A policy that denies a misspelt role is stored, and denies no subject.',
    file: 'src/gate/policy/rule-problems.ts',
    find: "(['allow', 'deny'] as const).flatMap((list) =>",
    replace: "(['allow'] as const).flatMap((list) =>",
    caughtBy: [{ file: 'src/gate/policy/policy-file.test.ts', title: 'refuses' }],
  },
  {
    id: 'a-question-resolved-meanwhile-is-listed-twice',
    bug: 'A question that is resolved while questions are listed stands in the list twice.',
    file: 'src/stores/redis/read-approvals.ts',
    find: 'found.set(id, {',
    replace: 'found.set(`${id} ${each}` as ApprovalId, {',
    caughtBy: [{ file: REDIS, title: 'list names a question once that is resolved while it is listed' }],
  },
  {
    id: 'a-later-look-denies-what-a-loop-blocked',
    bug: 'A call whose run was ended by a loop is denied, not blocked, if that is seen shortly before its start.',
    file: 'src/stages/admit/admit.ts',
    find: `stopped;
  const ending = checked.endings[0];
  if (ending !== undefined) return ended(sessionEnded(ending));`,
    replace: `stopped;
  const ending = checked.endings[0];
  if (ending !== undefined) return ended(errorOutcome('SESSION_ENDED', { ending }));`,
    caughtBy: [{ file: 'src/start-permit.test.ts', title: 'ends when' }],
  },
];
