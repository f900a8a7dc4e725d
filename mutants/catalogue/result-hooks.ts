import type { Mutant } from '../mutant.ts';

const HOOKS = 'src/gate/hooks/run-result-hooks.ts';
const HOOKS_TEST = 'src/gate/hooks/run-result-hooks.test.ts';
const REVIEW = 'src/stages/execute/review-result.ts';
const EXECUTE_TEST = 'src/stages/execute/review-result.test.ts';
const LIBRARY = 'src/gate/wrap/passage.ts';
const LIBRARY_TEST = 'src/gate/wrap/result-hooks.test.ts';

/** Bugs against the requirements in requirements/rows-result-hooks.ts: hooks that may replace what a tool gave. */
export const RESULT_HOOKS: readonly Mutant[] = [
  {
    id: 'result-hooks-see-secrets',
    bug: 'A result hook is shown the secrets that the tool returned.',
    file: 'src/worker/secrets/run-with-secrets.ts',
    find: '  return taint.isEmpty ? ending : scrubEnding(',
    replace: '  return taint.isEmpty || use.onTaint !== undefined ? ending : scrubEnding(',
    caughtBy: [{ file: EXECUTE_TEST, title: 'shows the hook what ran and the result without secrets' }],
  },
  {
    id: 'what-a-result-hook-wrote-is-not-scrubbed',
    bug: 'A secret of the call that a result hook writes is stored and answered.',
    file: 'src/stages/execute/execute.ts',
    find: '(scrub: Scrub) => void (review.scrub = scrub)',
    replace: '(_scrub: Scrub) => undefined',
    caughtBy: [{ file: EXECUTE_TEST, title: 'takes the secrets of the call out of what the hook wrote' }],
  },
  {
    id: 'what-a-result-hook-wrote-is-not-checked',
    bug: 'A replaced result need not match the output schema of the tool.',
    file: REVIEW,
    find: "if (outcome.kind === 'ok' && validateOutput !== undefined) {",
    replace: "if (outcome.kind !== 'ok' && validateOutput !== undefined) {",
    caughtBy: [{ file: EXECUTE_TEST, title: 'does not match its output schema withheld' }],
  },
  {
    id: 'what-a-result-hook-wrote-has-no-limit',
    bug: 'A replaced result may be larger than the limit of its tool.',
    file: REVIEW,
    find: 'return bytes + OUTCOME_BYTES > limit ?',
    replace: 'return bytes + OUTCOME_BYTES > limit * 1000 ?',
    caughtBy: [{ file: EXECUTE_TEST, title: 'larger than its limit withheld' }],
  },
  {
    id: 'result-hooks-each-see-the-first-result',
    bug: 'Each result hook sees what the tool gave, so that the second undoes what the first took out.',
    file: HOOKS,
    find: 'eventFor(state.outcome, frame)',
    replace: 'eventFor(call.outcome, frame)',
    caughtBy: [{ file: HOOKS_TEST, title: 'each what the one before made' }],
  },
  {
    id: 'failing-result-hooks-let-through',
    bug: 'The result is answered although a result hook threw or took too long.',
    file: HOOKS,
    find: "    if (ending.kind === 'failed') return withhold(ending);",
    replace: "    if (ending.kind === 'failed') return void withhold(ending);",
    caughtBy: [
      { file: HOOKS_TEST, title: 'withholds the result, and no later one is asked' },
      { file: EXECUTE_TEST, title: 'it ran once, and nothing of the result is given out' },
    ],
  },
  {
    id: 'withheld-results-may-be-retried',
    bug: 'The client is told that a call whose result was withheld did not run and may be sent again.',
    file: REVIEW,
    find: "errorOutcome('HOOK_RESULT_WITHHELD', facts, { executed: own.executed })",
    replace: "errorOutcome('HOOK_RESULT_WITHHELD', facts, { executed: 'no', retryable: true })",
    caughtBy: [{ file: EXECUTE_TEST, title: 'it ran once, and nothing of the result is given out' }],
  },
  {
    id: 'failed-result-hooks-quote-the-result',
    bug: 'The log has the message of an error that quotes the withheld result.',
    file: 'src/gate/hooks/call-hook.ts',
    find: "hook.on === 'tool_result' && !isHookError(cause) ?",
    replace: "hook.on === 'tool_result' && isHookError(cause) ?",
    caughtBy: [{ file: HOOKS_TEST, title: 'withholds the result, and no later one is asked' }],
  },
  {
    id: 'commands-that-withhold-quote-the-result',
    bug: 'The log has what a failing result command printed, which may be the result.',
    file: 'src/gate/hooks/command-protocol.ts',
    find: 'export function readResultOutput({ exitCode, signal, stdout }: ExitedProgram): ResultAnswer | undefined {\n  if (exitCode !== 0) throw badEnding({ exitCode, signal });',
    replace:
      'export function readResultOutput({ exitCode, signal, stdout, stderr }: ExitedProgram): ResultAnswer | undefined {\n  if (exitCode !== 0) throw badEnding({ exitCode, signal, stderr });',
    caughtBy: [
      { file: 'test/gate/command-hooks.test.ts', title: 'withholds the result, and the log quotes nothing of it' },
    ],
  },
  {
    id: 'answers-without-a-result-let-through',
    bug: 'A command that prints an answer without a result lets the tool\u2019s own result through: its redaction got lost.',
    file: 'src/gate/hooks/command-protocol.ts',
    find: "if (answer === undefined) throw new HookError('invalid-answer', 'its output has no updatedToolOutput');",
    replace: '',
    caughtBy: [
      { file: 'test/gate/command-hooks.test.ts', title: 'that prints an answer without a result withholds it' },
    ],
  },
  {
    id: 'unseen-results-are-described',
    bug: 'A result that no hook could be shown is described by its keys, to the model, the store and the audit.',
    file: 'src/stages/execute/review-result.ts',
    find: 'if (!isOwnResult(own)) return ended(withoutKeys(own, call));',
    replace: 'if (!isOwnResult(own)) return ended((void withoutKeys, own));',
    caughtBy: [{ file: 'src/stages/execute/review-result.test.ts', title: 'does not describe a result by its keys' }],
  },
  {
    id: 'answered-errors-stay-themselves',
    bug: 'An error that a hook answered with the same text is thrown with all its members.',
    file: 'src/gate/wrap/review-result.ts',
    find: 'return verdict.isAnswered === true ? endings.replaced(shown) : endings.kept;',
    replace: 'return endings.kept;',
    caughtBy: [{ file: 'src/gate/wrap/result-hooks.test.ts', title: 'has the message of what it throws reviewed' }],
  },
  {
    id: 'stopped-calls-tell-an-unchecked-result',
    bug: 'A call that is cancelled while its result hook is asked answers the result that the hook had not checked.',
    file: REVIEW,
    find: "    return verdict.kind === 'aborted' ? stop(ending) : ending;",
    replace: "    void stop;\n    return verdict.kind === 'aborted' ? ended(own) : ending;",
    caughtBy: [{ file: EXECUTE_TEST, title: 'while the hook is asked' }],
  },
  {
    id: 'failures-keep-their-words',
    bug: 'The error of a failure still has the words that a result hook took out of its content.',
    file: HOOKS,
    find: '{ error: reworded(error, outcome, content) }',
    replace: '{ error: (void reworded, error) }',
    caughtBy: [
      { file: HOOKS_TEST, title: 'change neither kind nor code of a failure' },
      { file: EXECUTE_TEST, title: 'has the words of its failure reviewed' },
    ],
  },
  {
    id: 'loop-history-is-what-the-hook-made',
    bug: 'Loop detection remembers what a result hook made, so that a changing redaction hides a loop.',
    file: 'src/stages/settle/settle-outcome.ts',
    find: 'attemptOf(delivered, facts.reviewed?.own ?? kept, facts)',
    replace: 'attemptOf(delivered, kept, facts)',
    caughtBy: [{ file: 'src/stages/settle/settle-outcome.test.ts', title: 'remembers for loop detection' }],
  },
  {
    id: 'audit-forgets-what-the-tool-gave',
    bug: 'The record of a replaced result has no digest of what the tool itself gave.',
    file: 'src/stages/settle/encode-audit.ts',
    find: '    ownResultDigest: resultDigest(own),\n',
    replace: '    ...(own === sent ? { ownResultDigest: resultDigest(own) } : {}),\n',
    caughtBy: [
      { file: 'src/stages/settle/encode-audit.test.ts', title: 'has digests of what the tool gave' },
      { file: 'test/plane/gate-hooks.test.ts', title: 'replace a result: only that is stored' },
    ],
  },
  {
    id: 'wrapped-updates-get-past-result-hooks',
    bug: 'The caller of a wrapped tool reads its updates before a result hook has seen the result.',
    file: 'src/gate/wrap/guard-entry.ts',
    find: '      if (!finish.reviews) yield update;',
    replace: '      yield update;',
    caughtBy: [{ file: LIBRARY_TEST, title: 'holds its updates back' }],
  },
  {
    id: 'wrapped-errors-get-past-result-hooks',
    bug: 'What a wrapped tool throws reaches the caller, whatever its result hooks say.',
    file: LIBRARY,
    find: "        const thrown = known.kind === 'threw' ? known.error : error;",
    replace: '        const thrown = error;',
    caughtBy: [{ file: LIBRARY_TEST, title: 'has the message of what it throws reviewed' }],
  },
  {
    id: 'wrapped-results-that-are-no-json-get-past',
    bug: 'The caller of a wrapped tool gets a value that no result hook could read.',
    file: LIBRARY,
    find: '          ? unreadable(read.problem, reviewed)',
    replace: "          ? (void unreadable, { kind: 'returned' as const, value, outcome: wholeOutcome(undefined) })",
    caughtBy: [{ file: LIBRARY_TEST, title: 'withholds a result that is not JSON' }],
  },
  {
    id: 'wrapped-loops-are-judged-by-the-hook',
    bug: 'The library remembers nothing of a result that its hooks were asked about.',
    file: LIBRARY,
    find: '    const known = remember(outcome, passage, needs, value);',
    replace: '    const known = reviews ? outcome() : remember(outcome, passage, needs, value);',
    caughtBy: [{ file: LIBRARY_TEST, title: 'hides no loop' }],
  },
];
