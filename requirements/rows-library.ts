import { test, type Requirement } from './requirement.ts';

const WRAP = 'src/gate/wrap';
const EVENTS = `${WRAP}/gate-events.test.ts`;
const LOOPS = `${WRAP}/gate-loops.test.ts`;
const NESTED = `${WRAP}/nested-call.test.ts`;
const OPTIONS = `${WRAP}/gate-options.test.ts`;
const FRAMEWORKS = 'test/gate/frameworks.test.ts';
const OPENCLAW = 'src/gate/hooks/from-openclaw.test.ts';

/** Requirements for the gate as a library: it runs inside other people's agents and must never break them. */
export const ROWS_LIBRARY: readonly Requirement[] = [
  {
    id: 'LIB1',
    says: 'What a tool throws reaches its caller as the very same value, however often it is thrown; the advice about it is beside it. Neither advice nor a log that fails costs a result.',
    tests: [
      test(`${WRAP}/thrown-errors.test.ts`, 'stays it after ten throws'),
      test(`${WRAP}/thrown-errors.test.ts`, 'can be shown, and has its advice beside it'),
      test(`${WRAP}/thrown-errors.test.ts`, 'never takes the place of a result'),
      test(LOOPS, 'errors stay what the tool threw'),
      test(EVENTS, 'and a log that throws change nothing'),
    ],
    mutants: ['thrown-errors-are-copied', 'advice-that-fails-costs-the-result'],
  },
  {
    id: 'LIB2',
    says: 'Conversations do not count for each other: each has a run, with the id, session and identity of its host. A refused call does not prolong an ended run.',
    tests: [
      test(LOOPS, 'makes nothing stricter for another session'),
      test(LOOPS, 'which calls in between do not prolong'),
      test('test/gate/examples.test.ts', 'check the tools of the AI SDK'),
    ],
    mutants: ['refused-calls-prolong-the-rest-of-a-gate', 'sessions-share-their-endings'],
  },
  {
    id: 'LIB3',
    says: 'Options that do not exist are refused with a guess. Every tool name has one id, which rules, hooks, events and errors share, and no two names have the same.',
    tests: [
      test(OPTIONS, 'are refused, with a guess'),
      test(OPTIONS, 'take a module where a rule names tools'),
      test(`${WRAP}/wrap-tool.test.ts`, 'rules, hooks and errors know it by the same id'),
      test(`${WRAP}/tool-id.test.ts`, 'gives every name an id that rules can name'),
      test(`${WRAP}/tool-id.test.ts`, 'gives different names different ids, also names that look already mapped'),
    ],
    mutants: ['unknown-options-are-dropped', 'modules-of-tools-are-dropped', 'tool-names-collide'],
  },
  {
    id: 'LIB4',
    says: 'Events of the library are those of a worker: category and status of errors, run and trace of the host, the kind of parameters; loops are logged, denials at once are told, and arguments that throw end in a block with a code.',
    tests: [
      test(EVENTS, 'have the category and the status of a worker'),
      test(EVENTS, 'have the run id and the trace of the host'),
      test(EVENTS, 'say which kind of parameters a tool got'),
      test(EVENTS, 'of arguments that throw when they are read'),
      test(EVENTS, 'of loops are lines of the log too'),
      test(`${WRAP}/gate-approvals.test.ts`, 'that is denied at once is reported as a no, like every other'),
    ],
    mutants: [
      'thrown-errors-have-no-category',
      'traces-of-hosts-are-lost',
      'all-parameters-are-objects',
      'getters-leave-the-gate',
      'loops-are-not-logged',
      'denials-at-once-are-not-told',
    ],
  },
  {
    id: 'LIB5',
    says: 'A wrapped tool that is decorated and wrapped again is gated once, and that opens no way past the gate.',
    tests: [
      test(NESTED, 'is gated once'),
      test(NESTED, 'is blocked for a loop as late as one that was not decorated'),
      test(NESTED, 'arguments that the decoration changed are checked again'),
      test(NESTED, 'is not a way past the gate'),
      test(NESTED, 'something that an ended call left running'),
      test(NESTED, 'of two gates is checked by both'),
    ],
    mutants: [
      'decorated-tools-are-gated-twice',
      'calls-from-inside-slip-past',
      'changed-arguments-slip-past',
      'late-calls-slip-past',
    ],
  },
  {
    id: 'LIB6',
    says: 'An agent whose tools throw, fail and loop runs to its end in the AI SDK, OpenAI Agents and LangChain, with the same verdicts in each.',
    tests: [
      test(FRAMEWORKS, 'is judged as it should be without any framework'),
      test(FRAMEWORKS, 'runs to its end with the same verdicts'),
      test('test/gate/examples.test.ts', 'check the tools of OpenAI Agents'),
    ],
    mutants: ['tools-of-agents-are-open', 'refusals-end-agents'],
  },
  {
    id: 'LIB7',
    says: 'Handlers of OpenClaw plugins run unchanged, in the library and on workers; none of their answers opens the gate.',
    tests: [
      test(OPENCLAW, 'gets event and context as there'),
      test(OPENCLAW, 'blocks, rewrites a part, or has no opinion'),
      test(OPENCLAW, 'asks, and gets'),
      test(OPENCLAW, 'is not waited for longer than there'),
      test(OPENCLAW, 'gets a no, and a warning once'),
      test(OPENCLAW, 'that answers'),
      test('test/plane/openclaw-hooks.test.ts', 'and runs what the question shows'),
      test('test/docs/migrating.test.ts', 'asks about what it makes of the arguments'),
    ],
    mutants: ['openclaw-timeouts-are-not-cut', 'openclaw-reasons-alone-allow', 'openclaw-silence-warns-nobody'],
  },
];
