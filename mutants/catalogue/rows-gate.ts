import type { Mutant } from '../mutant.ts';

const REDIS = 'test/contract/redis.test.ts';
const HOOKS = 'src/gate/hooks/run-before-hooks.ts';
const HOOKS_TEST = 'src/gate/hooks/run-before-hooks.test.ts';

/** Bugs against the requirements in requirements/rows-gate.ts, whose ids begin with B: the gate before a call. */
export const ROWS_GATE: readonly Mutant[] = [
  {
    id: 'names-of-other-alphabets-pass',
    bug: 'A name in letters of another alphabet is not compared with the one it looks like.',
    file: 'src/modules/catalog/confusable-names.ts',
    find: 'LOOKALIKES[letter] ?? letter',
    replace: 'LOOKALIKES[`${letter}!`] ?? letter',
    caughtBy: [{ file: 'src/modules/catalog/confusable-names.test.ts', title: ' is easily confused with ' }],
  },
  {
    id: 'circles-are-not-seen',
    bug: 'Calls that go round in a circle are not noticed.',
    file: 'src/gate/loop/detect-loop.ts',
    find: '  detectCycle,\n',
    replace: '',
    caughtBy: [{ file: 'src/gate/loop/detect-loop.test.ts', title: ' is warned about after ' }],
  },
  {
    id: 'rewrites-blind-the-history',
    bug: 'The history of a run does not know what really ran after a hook changed the arguments.',
    file: 'src/stages/settle/attempt-of.ts',
    find: 'if (effective !== undefined) attempt.effective',
    replace: "if (effective === '') attempt.effective",
    caughtBy: [
      {
        file: 'src/stages/settle/attempt-of.test.ts',
        title: 'has the signature of what ran only where that was not what was sent',
      },
    ],
  },
  {
    id: 'hooks-see-the-first-arguments',
    bug: 'Each hook sees the arguments as they were sent, so that two rewrites overwrite each other.',
    file: HOOKS,
    find: 'function eventFor({ canonical }: State, { facts }: Frame)',
    replace: 'function eventFor(_: State, { facts, call: { canonical } }: Frame)',
    caughtBy: [{ file: HOOKS_TEST, title: 'each see what the one before made of the arguments' }],
  },
  {
    id: 'questions-merge-to-the-mildest',
    bug: 'Of several timeouts for one question the longest is taken.',
    file: 'src/gate/approvals/merge-asks.ts',
    find: 'Math.min(...given)',
    replace: 'Math.max(...given)',
    caughtBy: [{ file: 'src/gate/approvals/merge-asks.test.ts', title: 'is never milder than any of its parts' }],
  },
  {
    id: 'failing-hooks-let-through',
    bug: 'A hook that throws or takes too long has no objection.',
    file: HOOKS,
    find: 'return fail(ending);',
    replace: 'return undefined;',
    caughtBy: [{ file: 'src/gate/hooks/hook-failures.test.ts', title: ' blocks the call, and no later hook is asked' }],
  },
  {
    id: 'approvals-do-not-bind-arguments',
    bug: 'A yes to one call is a yes to the same tool with any arguments.',
    file: 'src/gate/approvals/binding.ts',
    find: 'toolDigest, arguments: args, session, askers: asked',
    replace: 'toolDigest, session, askers: asked',
    caughtBy: [{ file: 'src/gate/approvals/binding.test.ts', title: ' is another one' }],
  },
  {
    id: 'no-route-looks-like-a-timeout',
    bug: 'A question that nobody could be asked is told as one that nobody answered.',
    file: 'src/gate/approvals/endings.ts',
    find: "'no-route': { resolution: 'cancelled'",
    replace: "'no-route': { resolution: 'timeout'",
    caughtBy: [{ file: 'src/gate/approvals/endings.test.ts', title: ' ends in one of the five resolutions' }],
  },
  {
    id: 'callbacks-are-claimed-again',
    bug: 'A callback that one worker has claimed is given to the next one who asks.',
    file: 'src/stores/redis/functions/claim-callbacks.lua',
    find: "or asked[1] ~= 'waiting' then return end",
    replace: "or (asked[1] ~= 'waiting' and asked[1] ~= 'claimed') then return end",
    caughtBy: [{ file: REDIS, title: 'each callback goes to one of many concurrent claims' }],
  },
  {
    id: 'rewriting-hooks-do-not-ask',
    bug: 'The wish of a hook that a person be asked is lost.',
    file: HOOKS,
    find: 'state.asks.push(requested);',
    replace: 'void requested;',
    caughtBy: [{ file: HOOKS_TEST, title: 'and a request for approval go together' }],
  },
  {
    id: 'events-copy-every-fact',
    bug: 'Diagnostic events carry whatever was handed to them.',
    file: 'src/observe/copy-event.ts',
    find: 'copyFields(fieldsOf(kind), facts, event);',
    replace: 'copyFields(Object.keys(facts), facts, event);',
    caughtBy: [{ file: 'src/observe/event-bus.test.ts', title: 'leaves out what is no field of the event' }],
  },
  {
    id: 'observers-miss-the-arguments',
    bug: 'Hooks after a call are not told with which arguments it ran.',
    file: 'src/gate/hooks/run-after-hooks.ts',
    find: 'arguments: ended.arguments,',
    replace: 'arguments: {},',
    caughtBy: [
      {
        file: 'src/gate/hooks/run-after-hooks.test.ts',
        title: 'are invoked once each with effective arguments, structured outcome, id and duration, as frozen copies',
      },
    ],
  },
  {
    id: 'tools-are-wrapped-twice',
    bug: 'A tool that is wrapped for another run asks its hooks twice.',
    file: 'src/gate/wrap/wrap-tool.ts',
    find: 'known?.gate === gate ? { ...known.entry, reads: found.reads } : found',
    replace: 'found',
    caughtBy: [{ file: 'src/gate/wrap/wrap-tool.test.ts', title: 'fires hooks once, however often it is wrapped' }],
  },
  {
    id: 'traces-begin-anew',
    bug: 'A worker does not read the trace of the caller and begins one of its own.',
    file: 'src/worker/call-emitter.ts',
    find: 'parseTrace(decoded.envelope.trace, decoded.envelope.traceState)',
    replace: 'parseTrace(decoded.envelope.traceState)',
    caughtBy: [
      {
        file: 'src/worker/call-emitter.test.ts',
        title: 'that is the one of the caller, with a span for each stage below that of the call',
      },
    ],
  },
  {
    id: 'exit-codes-are-no-failures',
    bug: 'A result with a non-zero exit code counts as a success.',
    file: 'src/stages/execute/judge-result.ts',
    find: 'Number.isInteger(code) && code !== 0',
    replace: 'Number.isInteger(code) && code < -99',
    caughtBy: [
      {
        file: 'test/plane/gate-loops.test.ts',
        title: 'of programs that return a non-zero exit code are stopped as failures',
      },
    ],
  },
];
