import { test, type Requirement } from './requirement.ts';

const HOOKS = 'src/gate/hooks/run-result-hooks.test.ts';
const EXECUTE = 'src/stages/execute/review-result.test.ts';
const PLANE = 'test/plane/gate-hooks.test.ts';
const COMMANDS = 'test/gate/command-hooks.test.ts';
const LIBRARY = 'src/gate/wrap/result-hooks.test.ts';

/** Requirements for result hooks: the operator's code between a tool's result and all of its readers. */
export const ROWS_RESULT_HOOKS: readonly Requirement[] = [
  {
    id: 'RH1',
    says: 'A result hook sees the whole result without secrets and may replace it. What it wrote is scrubbed, checked against the output schema and the size limit, and then seen by the next hook. Only the last one is stored, replayed and answered.',
    tests: [
      test(HOOKS, 'see a result of any length whole'),
      test(HOOKS, 'replace the whole result, each what the one before made'),
      test(HOOKS, 'have what they wrote scrubbed and checked, before the next one sees it'),
      test(EXECUTE, 'shows the hook what ran and the result without secrets'),
      test(EXECUTE, 'takes the secrets of the call out of what the hook wrote'),
      test(EXECUTE, 'has a replaced result that does not match its output schema withheld'),
      test(EXECUTE, 'has a replaced result that is larger than its limit withheld'),
      test(COMMANDS, 'replaces a result, or keeps it by saying nothing'),
      test(PLANE, 'replace a result: only that is stored, replayed and audited'),
    ],
    mutants: [
      'result-hooks-see-secrets',
      'what-a-result-hook-wrote-is-not-scrubbed',
      'what-a-result-hook-wrote-is-not-checked',
      'what-a-result-hook-wrote-has-no-limit',
      'result-hooks-each-see-the-first-result',
    ],
  },
  {
    id: 'RH2',
    says: 'A result hook that throws, takes too long or answers something else withholds the result. The tool ran, is not run again, and nothing that it said is stored, replayed, audited, logged or observed.',
    tests: [
      test('test/gate/command-hooks.test.ts', 'that prints an answer without a result withholds it'),
      test('src/stages/execute/review-result.test.ts', 'does not describe a result by its keys'),
      test('src/gate/wrap/result-hooks.test.ts', 'has the message of what it throws reviewed'),
      test(HOOKS, 'withholds the result, and no later one is asked'),
      test(HOOKS, 'log the type and the place of an error, without its message'),
      test(HOOKS, 'are waited for until the call must be answered'),
      test(EXECUTE, 'it ran once, and nothing of the result is given out'),
      test(EXECUTE, 'has the words of its failure reviewed, and keeps kind and code'),
      test(EXECUTE, 'while the hook is asked'),
      test(COMMANDS, 'withholds the result, and the log quotes nothing of it'),
      test(PLANE, 'nothing of its result is stored, replayed, audited or logged'),
    ],
    mutants: [
      'failing-result-hooks-let-through',
      'answers-without-a-result-let-through',
      'unseen-results-are-described',
      'answered-errors-stay-themselves',
      'withheld-results-may-be-retried',
      'failed-result-hooks-quote-the-result',
      'commands-that-withhold-quote-the-result',
      'stopped-calls-tell-an-unchecked-result',
      'failures-keep-their-words',
    ],
  },
  {
    id: 'RH3',
    says: 'Kind, `executed`, code, cost and loop history come from what the tool gave, and the audit has digests of that and of what was settled, with the hooks between them.',
    tests: [
      test(HOOKS, 'change neither kind nor code of a failure'),
      test(
        'src/stages/settle/settle-outcome.test.ts',
        'remembers for loop detection the tool’s own result and its cost, independent of hooks',
      ),
      test('src/stages/settle/encode-audit.test.ts', 'has digests of what the tool gave and of what was settled'),
      test('src/gateway/api/call-timeline.test.ts', 'names the hooks that changed or withheld its result'),
      test('src/operate/inspect-hooks.test.ts', 'reports failures, and is bad when a hook closes its tools'),
    ],
    mutants: ['loop-history-is-what-the-hook-made', 'audit-forgets-what-the-tool-gave'],
  },
  {
    id: 'RH4',
    says: 'The library has the same result hooks: the caller gets what they made of it, or GateBlocked. Updates, errors and values that are not JSON do not get past them.',
    tests: [
      test(LIBRARY, 'gives the caller what the hook made of text and of data'),
      test(LIBRARY, 'throws GateBlocked when the hook fails'),
      test(LIBRARY, 'withholds a replaced result that does not match the output schema'),
      test(LIBRARY, 'withholds a result that is not JSON'),
      test(LIBRARY, 'gives the caller the copy that the hook saw'),
      test(LIBRARY, 'has the message of what it throws reviewed'),
      test(LIBRARY, 'holds its updates back'),
      test(LIBRARY, 'hides no loop'),
    ],
    mutants: [
      'wrapped-updates-get-past-result-hooks',
      'wrapped-errors-get-past-result-hooks',
      'wrapped-results-that-are-no-json-get-past',
      'wrapped-loops-are-judged-by-the-hook',
    ],
  },
];
