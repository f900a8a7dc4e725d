import type { Mutant } from '../mutant.ts';

const EMBEDDED = 'test/contract/embedded.test.ts';
const REDIS = 'test/contract/redis.test.ts';
const PLANE_TEST = 'test/plane/gate-loops.test.ts';
const DETECT_TEST = 'src/gate/loop/detect-loop.test.ts';
const ARGUMENTS_TEST = 'src/gate/loop/argument-signature.test.ts';
const GATE_TEST = 'src/gate/wrap/gate-loops.test.ts';

/** Bugs against the requirements in requirements/rows-loops.ts: hidden loops are found, and work that only looks like a loop goes on. */
export const LOOPS: readonly Mutant[] = [
  {
    id: 'nonces-hide-loops',
    bug: 'A nonce in the arguments makes another call of every repetition.',
    file: 'src/gate/loop/argument-signature.ts',
    find: "if (kind === 'nonce') return GONE;",
    replace: "if (kind === 'nonce') return value;",
    caughtBy: [{ file: ARGUMENTS_TEST, title: 'are the same for another' }],
  },
  {
    id: 'batches-look-like-loops',
    bug: 'Records that are told apart by a random id are taken for one call.',
    file: 'src/gate/loop/argument-signature.ts',
    find: "if (kind === 'other') {",
    replace: "if (kind === 'other' || kind === 'thing') {",
    caughtBy: [{ file: 'src/gate/loop/argument-signature.test.ts', title: 'are those of the caller for' }],
  },
  {
    id: 'changes-of-a-batch-look-like-loops',
    bug: 'Changes that are told apart by a random value under any name are taken for one call, and blocked after 20.',
    file: 'src/gate/loop/argument-signature.ts',
    find: 'return keepsIds && scrubbed === GONE ? value : scrubbed;',
    replace: 'return keepsIds && scrubbed === value ? value : scrubbed;',
    caughtBy: [{ file: 'src/gate/loop/loop-table.test.ts', title: 'a batch of 300 changes' }],
  },
  {
    id: 'batches-under-way-look-like-loops',
    bug: 'Calls under way that differ in volatile values are taken for duplicates.',
    file: 'src/gate/loop/loop-window.ts',
    find: '(isSame && !this.hasVolatile)',
    replace: 'isSame',
    caughtBy: [{ file: GATE_TEST, title: 'leaves batches and pages alone' }],
  },
  {
    id: 'new-runs-evade-embedded',
    bug: 'The session counts nothing over its runs.',
    file: 'src/stores/embedded/transitions/session-row.ts',
    find: 'addStall(findStalls(transaction, id), signature, now)',
    replace: 'addStall([], signature, now)',
    caughtBy: [
      {
        file: EMBEDDED,
        title: 'calls without a new result are counted over the runs of one session, until a loop ends a run',
      },
    ],
  },
  {
    id: 'new-runs-evade-redis',
    bug: 'The session counts nothing over its runs.',
    file: 'src/stores/redis/functions/shared/settled-attempts.lua',
    find: 'count, first = tonumber(times) + 1, at',
    replace: 'count, first = 1, at',
    caughtBy: [
      {
        file: REDIS,
        title: 'calls without a new result are counted over the runs of one session, until a loop ends a run',
      },
    ],
  },
  {
    id: 'new-runs-evade-the-gate',
    bug: 'A gate counts nothing over the runs of a session.',
    file: 'src/gate/wrap/run-memory.ts',
    find: 'addStall(session.stalls ?? [], stall, at)',
    replace: 'addStall([], stall, at)',
    caughtBy: [{ file: GATE_TEST, title: 'a new run for every nine calls does not evade it' }],
  },
  {
    id: 'conversations-stop-each-other',
    bug: 'A call is blocked for what other conversations of its session did, before it was repeated.',
    file: 'src/gate/loop/detect-stall.ts',
    find: 'return call.count >= MAX_USEFUL_REPEATS ||',
    replace: 'return call.count >= 1 ||',
    caughtBy: [{ file: DETECT_TEST, title: 'leaves the first two calls of a run' }],
  },
  {
    id: 'changing-results-end-the-run',
    bug: 'The same call with results that differ ends the run when it goes on.',
    file: 'src/gate/loop/loop-verdict.ts',
    find: "'cost', 'changing'];",
    replace: "'cost'];",
    caughtBy: [
      { file: DETECT_TEST, title: 'of blocked calls whose results differed goes on, and does not end the run' },
    ],
  },
  {
    id: 'tallies-are-lost-redis',
    bug: 'A history on Redis has no tallies and no targets.',
    file: 'src/stores/redis/functions/shared/attempts.lua',
    find: 'if #attempt ~= 2 * size - 1 then return described end',
    replace: 'if #attempt > 0 then return described end',
    caughtBy: [{ file: REDIS, title: 'history has the target and the tally of an attempt' }],
  },
  {
    id: 'unknown-tools-go-on',
    bug: 'A client answers TOOL_UNKNOWN however often the name is called.',
    file: 'src/client/unknown-tools.ts',
    find: "const outcome = verdict.kind === 'block' ? blocked(verdict) : unknown;",
    replace: 'const outcome = unknown;',
    caughtBy: [{ file: PLANE_TEST, title: 'of a name that no published tool has are stopped by the client library' }],
  },
  {
    id: 'anybody-ends-a-run',
    bug: 'A token that is not the session’s ends its run with calls of unknown tools.',
    file: 'src/client/unknown-tools.ts',
    find: '      await prove(session);\n',
    replace: '',
    caughtBy: [{ file: PLANE_TEST, title: 'of a name that no published tool has are stopped by the client library' }],
  },
  {
    id: 'advice-is-lost-in-short-forms',
    bug: 'An outcome with a plain value is stored without the advice beside it.',
    file: 'src/domain/outcome/outcome-bytes.ts',
    find: ' || advice !== undefined;',
    replace: ';',
    caughtBy: [
      { file: 'src/domain/outcome/outcome-bytes.test.ts', title: 'keeps the advice beside a value and beside a text' },
    ],
  },
  {
    id: 'refused-calls-get-no-advice',
    bug: 'A call that a hook blocks in the library comes without the advice of loop detection.',
    file: 'src/gate/wrap/judge-call.ts',
    find: "return loop.kind === 'warn' ? { ...refusal,",
    replace: "return loop.kind === 'block' ? { ...refusal,",
    caughtBy: [
      {
        file: GATE_TEST,
        title:
          'is next to the reason of calls that a hook blocks, a rule denies or that cannot be checked, in calls 11 to 20',
      },
    ],
  },
];
