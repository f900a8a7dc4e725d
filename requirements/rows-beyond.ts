import { onBothStores, test, type Requirement } from './requirement.ts';

/** Requirements that none of three earlier systems met: the tool service (rows-running), the gate (rows-gate) and the tool selection (rows-selection). */
export const ROWS_BEYOND: readonly Requirement[] = [
  {
    id: 'D1',
    says: 'One durable record per call from decision to outcome. Where nobody knows whether it ran, it says so, and an operator can settle the question.',
    tests: [
      ...onBothStores('resolve adds the operator’s word to an indeterminate call and keeps its outcome'),
      ...onBothStores('resolve refuses calls that are not indeterminate'),
      ...onBothStores('an unsafe call lost while running is never started again'),
      test('test/cli/redis.test.ts', 'resolve writes down what an operator found out'),
    ],
    mutants: ['any-call-can-be-resolved', 'start-repeats-an-unsafe-call'],
  },
  {
    id: 'D2',
    says: 'Approvals are bound to the exact bytes, and clients of MCP are asked in their own way: by a form, a task, or a pending result.',
    tests: [
      test('src/gate/approvals/binding.test.ts', 'is another one'),
      ...onBothStores('a decision that names another binding decides nothing'),
      test('src/gateway/mcp/sealed-state.test.ts', 'comes back to its owner, once'),
      test('test/mcp/approvals.test.ts', 'runs the call once when its person allows it, and shows what runs'),
      test('test/mcp/approvals.test.ts', 'is reported as pending, and the same call again is the one that waits'),
      test('test/mcp/calls.test.ts', 'of a client that shows forms asks there'),
    ],
    mutants: ['approvals-do-not-bind-arguments', 'decision-ignores-the-binding', 'sealed-state-works-twice'],
  },
  {
    id: 'D3',
    says: 'Anyone can kill processes at every step, cut the store off, and see that the invariants hold.',
    tests: [
      test('test/plane/crash-points.test.ts', 'one answer'),
      test('test/plane/lost-store.test.ts', 'at each answer of the way runs an unsafe tool once and answers once'),
      test('test/plane/store-crash.test.ts', 'loses nothing and runs nothing twice'),
      test('test/chaos/layers.test.ts', 'finds nothing wrong'),
      test('test/harness/chaos-proxy.test.ts', 'drop-reply: the client gets an error although the command took effect'),
    ],
    mutants: ['first-starts-leave-no-mark'],
  },
  {
    id: 'D4',
    says: 'The audit is complete, chained and signed, and a verifier names the first record that was changed.',
    tests: [
      ...onBothStores('the audit has one ending per call, in the order they happened, without gaps'),
      test('src/domain/audit/record-bytes.test.ts', 'is chained to the one before, to its lane and to its store'),
      test('test/audit/trail.test.ts', 'was changed'),
      test('test/audit/trail.test.ts', 'names a record that was removed'),
      test('test/audit/kill-soak.test.ts', 'verifies, and has exactly the records of every call'),
    ],
    mutants: ['records-are-not-chained', 'settle-without-audit'],
  },
  {
    id: 'D5',
    says: 'Why a call is denied is told by a command and on a page, with the smallest change that would allow it.',
    tests: [
      test('src/domain/policy/explain-call.test.ts', 'decides as the plane does, and its changes suffice'),
      test('src/domain/policy/explain-call.test.ts', 'reports every obstacle and a change for each of them'),
      test('test/cli/explain.test.ts', 'says which rule lets a call through'),
      test('test/console/access.test.ts', 'tries a call with its arguments and runs nothing'),
    ],
    mutants: ['explain-forgets-pauses'],
  },
  {
    id: 'D5b',
    says: 'A new policy can be tried beside the one in force, and against calls of the past.',
    later: 'Not built. Until then `sallyport policy check` judges a file and `sallyport explain` single calls.',
  },
  {
    id: 'D6',
    says: 'Definitions of an upstream MCP server are pinned; one that changes is kept back until an operator accepts it.',
    later:
      'Built, see docs/upstreams.md, with tests in test/upstreams and src/upstreams/pins. No known bug is planted for them yet, so their proof is not counted.',
  },
  {
    id: 'D7',
    says: 'Tools run in a sandbox without network, environment and foreign files.',
    later:
      'Not built. Until then `runner: process` keeps crashes, leaks and blocked loops to the call that caused them, with a bare environment.',
  },
  {
    id: 'D8',
    says: 'A person sees calls and decides questions in a console that shows exactly what will run.',
    tests: [
      test('test/console/approvals.test.ts', 'shows a new question by itself, with what will run'),
      test('test/console/approvals.test.ts', 'lets long arguments be allowed only after all of them were opened'),
      test('test/console/inert.test.ts', 'is inert in a question'),
      test('console/src/fold-text.test.ts', 'keeps the end of a long text in sight'),
      test('console/src/fold-text.test.ts', 'leaves nothing out but what it counts'),
      test('console/src/split-hidden.test.ts', 'spells out what turns the text around'),
    ],
    mutants: ['console-hides-the-end'],
  },
  {
    id: 'D9',
    says: 'Queues are fair and bounded, and who is refused is told when to come again.',
    tests: [
      ...onBothStores('accept refuses the call above liveCalls, writes nothing of it'),
      ...onBothStores("accept refuses above the subject's backlog and leaves other subjects alone"),
      ...onBothStores('the admission bound holds when many accept at once'),
      ...onBothStores('settle promotes the next of the backlog, in accept order'),
      test('test/plane/fairness.test.ts', 'are refused at the door with a hint'),
    ],
    mutants: ['admission-limit-ignored', 'embedded-admission-limit-ignored', 'backlogs-have-no-bound'],
  },
  {
    id: 'D10',
    says: 'Nothing is left behind: no process, no key, no file, also of a worker that was killed.',
    tests: [
      test('test/plane/hygiene.test.ts', 'leaves nothing behind but outcomes and audit'),
      test(
        'test/runners/worker-death.test.ts',
        'tool processes and what they started die with a worker that is killed',
      ),
      test('test/runners/process-runner.test.ts', 'leaves no grandchild behind'),
      test('test/examples/shell.test.ts', 'what was left in the background ends with the program'),
    ],
    mutants: ['grandchildren-live-on'],
  },
];
