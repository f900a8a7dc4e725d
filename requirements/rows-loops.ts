import { onBothStores, test, type Requirement } from './requirement.ts';

const TABLE = 'src/gate/loop/loop-table.test.ts';
const DETECT = 'src/gate/loop/detect-loop.test.ts';
const SIGNATURE = 'src/gate/loop/argument-signature.test.ts';
const GATE = 'src/gate/wrap/gate-loops.test.ts';
const PLANE = 'test/plane/gate-loops.test.ts';
const AFTER = 'test/gateway/after-a-loop.test.ts';

/** Requirements: hidden loops are detected, and work that only looks like a loop is not blocked. */
export const ROWS_LOOPS: readonly Requirement[] = [
  {
    id: 'LP1',
    says: 'A loop is seen through volatile values in the arguments, with the same numbers, if the results are the same. Pages, cursors, batches and results that change stay free.',
    tests: [
      test(SIGNATURE, 'are the same for another'),
      test(SIGNATURE, 'are those of the caller for'),
      test(DETECT, 'of what differs in volatile values counts only with the same result'),
      test(TABLE, 'is warned about, stopped within 40 calls, and stays stopped'),
      test(TABLE, 'is never blocked'),
      test(GATE, 'sees through a nonce in the arguments, for any length of the circle'),
      test(GATE, 'leaves batches and pages alone'),
      ...onBothStores('history travels with the eight attempts after one that ran the same without volatile values'),
      test(PLANE, 'with a nonce in the arguments are stopped like any other, and batches are not'),
      test(AFTER, 'a nonce in the arguments hides no loop'),
    ],
    mutants: [
      'nonces-hide-loops',
      'batches-look-like-loops',
      'changes-of-a-batch-look-like-loops',
      'batches-under-way-look-like-loops',
    ],
  },
  {
    id: 'LP2',
    says: 'A session counts what brings nothing new over its runs: a new run name or MCP session evades nothing. Conversations that make the same call twice do not stop each other.',
    tests: [
      ...onBothStores('calls without a new result are counted over the runs of one session, until a loop ends a run'),
      test(DETECT, 'leaves the first two calls of a run, other calls, new results, slow ones and old counts alone'),
      test(GATE, 'a new run for every nine calls does not evade it'),
      test(GATE, 'lets many conversations of one session make the same call twice'),
      test(PLANE, 'over many short runs of a session are stopped'),
      test(AFTER, 'a new run name for every nine calls does not evade the session'),
    ],
    mutants: [
      'new-runs-evade-embedded',
      'new-runs-evade-redis',
      'new-runs-evade-the-gate',
      'conversations-stop-each-other',
    ],
  },
  {
    id: 'LP3',
    says: 'The very same call with results that differ is told after 50 calls, blocked after 200, and ends no run; declared polls are exempt. Other contents for the same target are told, and never blocked.',
    tests: [
      test(TABLE, 'is warned about after 50 calls, blocked after 200, and the run is not ended'),
      test(TABLE, 'the same target written with new contents leads to a warning, other targets do not'),
      test(DETECT, 'of blocked calls whose results differed goes on, and does not end the run'),
      test(GATE, 'warns after 50 identical calls whose results differ, blocks after 200, and ends no run'),
      test(GATE, 'warns when the same target is written again and again with other contents, and never blocks that'),
      ...onBothStores('history has the target and the tally of an attempt, beside all others'),
    ],
    mutants: ['changing-results-end-the-run', 'tallies-are-lost-redis'],
  },
  {
    id: 'LP4',
    says: 'Calls of tools that do not exist are told, blocked and end the run, through the client, HTTP and MCP. Only a proven caller ends a run.',
    tests: [
      test(PLANE, 'of a name that no published tool has are stopped by the client library'),
      test(
        AFTER,
        'over HTTP a tool that does not exist is warned about after 5 calls, blocked after 10, and its run ends',
      ),
      test(AFTER, 'warns of a tool that does not exist, blocks it, and ends the run'),
      ...onBothStores('a run that is ended for a loop by its caller is remembered as one'),
    ],
    mutants: ['unknown-tools-go-on', 'anybody-ends-a-run'],
  },
  {
    id: 'LP5',
    says: 'The advice of loop detection is a field of the outcome, whatever became of the call. Models read it through HTTP, MCP, every toolkit format and the gate as a library.',
    tests: [
      test('src/domain/outcome/outcome-bytes.test.ts', 'keeps the advice beside a value and beside a text'),
      test(
        GATE,
        'is next to the reason of calls that a hook blocks, a rule denies or that cannot be checked, in calls 11 to 20',
      ),
      test(PLANE, 'A A A … are warned inside the result, blocked, and end the run'),
      test('test/plane/gate-hooks.test.ts', 'give the advice of loop detection with it'),
      test('src/gateway/mcp/show-outcome.test.ts', 'has the advice beside the reason of a call that failed'),
      test(AFTER, 'a warning is a field of the outcome, over HTTP and MCP'),
      test('test/toolkit/run-examples.test.ts', 'give the model the advice of loop detection in the format of'),
    ],
    mutants: ['advice-is-lost-in-short-forms', 'refused-calls-get-no-advice'],
  },
];
