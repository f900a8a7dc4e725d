import { onBothStores, test, type Requirement } from './requirement.ts';

/** Requirements from a gate before tool calls: what it did has to hold here. */
export const ROWS_GATE: readonly Requirement[] = [
  {
    id: 'B1',
    says: 'A tool has one canonical id. A module whose id a reader could confuse with a published one is refused; the published one keeps its place.',
    tests: [
      test('src/modules/catalog/confusable-names.test.ts', 'is easily confused with'),
      test('test/catalog/load-modules.test.ts', 'T04 serves the first of two modules that a reader could confuse'),
      test(
        'test/catalog/load-modules.test.ts',
        'T04 serves the published one of two modules that a reader could confuse',
      ),
      test('test/catalog/publish-catalog.test.ts', 'lets the first of two workers serve its module'),
    ],
    mutants: ['names-of-other-alphabets-pass'],
  },
  {
    id: 'B2',
    says: 'Loops are found by default: repeats, unknown tools, polls, circles of up to eight calls, failure streaks, duplicates under way. Shared by all workers, and over restarts.',
    tests: [
      test('src/gate/loop/loop-table.test.ts', 'is warned about, stopped within 40 calls, and stays stopped'),
      test('src/gate/loop/detect-loop.test.ts', ' is warned about after '),
      test('src/gate/policy/loop-schema.test.ts', 'has safe defaults on, without a policy'),
      ...onBothStores('history travels with the third attempt of the same'),
      test('test/plane/gate-loops.test.ts', 'on redis go on where they were'),
      test('test/plane/gate-loops.test.ts', 'on embedded go on where they were'),
    ],
    mutants: ['circles-are-not-seen'],
  },
  {
    id: 'B3',
    says: 'Each attempt is remembered once with what was asked for, what ran and how it ended, blocked ones too. Hooks that rewrite do not blind it.',
    tests: [
      test('src/stages/settle/attempt-of.test.ts', 'names run and session, and what came out'),
      test(
        'src/stages/settle/attempt-of.test.ts',
        'has the signature of what ran only where that was not what was sent',
      ),
      test('src/gate/loop/detect-loop.test.ts', 'is seen by what was asked for and by what ran'),
      test('src/gate/wrap/gate-loops.test.ts', 'counts calls that are refused: by rules, hooks'),
      ...onBothStores('a settle repeated after a lost answer counts its attempt once'),
      ...onBothStores('a call that no worker ran is remembered as refused'),
    ],
    mutants: ['rewrites-blind-the-history'],
  },
  {
    id: 'B4',
    says: 'Hooks run one after the other, each on what the one before made. They block, rewrite and ask; rewrites are validated again; several questions become one, the strictest.',
    tests: [
      test('src/gate/hooks/run-before-hooks.test.ts', 'each see what the one before made of the arguments'),
      test('src/gate/hooks/run-before-hooks.test.ts', 'are validated again, and wrong ones block'),
      test('src/gate/hooks/run-before-hooks.test.ts', 'that says block: false has no objection'),
      test('src/gate/hooks/hook-failures.test.ts', 'does not answer in time is aborted'),
      test('src/gate/approvals/merge-asks.test.ts', 'is never milder than any of its parts'),
    ],
    mutants: ['hooks-see-the-first-arguments', 'questions-merge-to-the-mildest'],
  },
  {
    id: 'B5',
    says: 'A hook that fails blocks the call with one fixed sentence. The cause is logged, and the failure is counted.',
    tests: [
      test('src/gate/hooks/hook-failures.test.ts', 'blocks the call, and no later hook is asked'),
      test('src/gate/hooks/hook-failures.test.ts', 'is not in the one sentence the model gets'),
      test('src/gate/hooks/hook-failures.test.ts', 'counts what it did and how long it took'),
      test(
        'test/plane/gate-hooks.test.ts',
        'that fail block with one sentence for every cause; the log has the cause, and the audit names the hook',
      ),
    ],
    mutants: ['failing-hooks-let-through'],
  },
  {
    id: 'B6',
    says: 'A question to a person is durable, holds no worker, and is bound to what would run. Every way it can end is told apart.',
    tests: [
      test('src/gate/approvals/endings.test.ts', 'gives every ending a sentence of its own'),
      test('src/gate/approvals/binding.test.ts', 'is another one'),
      ...onBothStores('ask parks a call: no worker holds it, no worker can claim it, its audit names the approval'),
      ...onBothStores('a parked call outlives its deadline, and expires with its approval'),
      ...onBothStores('cancel ends a parked call with its approval'),
      test('test/plane/gate-rules.test.ts', 'that are not answered in time deny'),
      test('test/plane/gate-rules.test.ts', 'leave nothing to decide when the caller gives up'),
      test('test/plane/unseen-approvals.test.ts', 'end at once, without a question, when no yes is offered'),
      test('test/plane/gate-approvals.test.ts', 'are denied without a question when the store cannot keep it'),
      test('test/redis/approval-soak.test.ts', 'parked calls survive kill -9 of Redis'),
    ],
    mutants: ['approvals-do-not-bind-arguments'],
  },
  {
    id: 'B7',
    says: 'A question ends as allow-once, allow-always, deny, timeout or cancelled. Grants belong to the plane. The callback is claimed before it is invoked, and invoked once.',
    tests: [
      test('src/gate/approvals/endings.test.ts', 'ends in one of the five resolutions'),
      ...onBothStores('allow-always makes a grant in the same step'),
      ...onBothStores('of many concurrent uses of a grant, only its allowed number pass'),
      ...onBothStores('each callback goes to one of many concurrent claims'),
      ...onBothStores('a claim that is not finished within its lease is unknown'),
      test('test/plane/approval-callbacks.test.ts', 'are invoked by the worker that asked, once'),
    ],
    mutants: ['no-route-looks-like-a-timeout', 'callbacks-are-claimed-again'],
  },
  {
    id: 'B8',
    says: 'A hook may rewrite and ask: the rewritten arguments are shown, bound, and run only after a yes. A person may edit them; edits are validated and judged again.',
    tests: [
      test('src/gate/hooks/run-before-hooks.test.ts', 'and a request for approval go together'),
      test('test/plane/gate-hooks.test.ts', 'that rewrite and ask show and bind the rewritten arguments'),
      test('test/plane/gate-hooks.test.ts', 'that rewrite and ask change nothing after a no'),
      test('test/plane/gate-rules.test.ts', 'run these and nothing else'),
      test('test/plane/gate-rules.test.ts', 'refuse the call'),
      test('test/plane/gate-rules.test.ts', 'that a rule denies are denied'),
    ],
    mutants: ['rewriting-hooks-do-not-ask', 'approved-call-runs-what-the-caller-sent'],
  },
  {
    id: 'B9',
    says: 'Diagnostic events tell every step of a call with durations and a category from a closed list, never a value.',
    tests: [
      test('src/domain/events/event-table.test.ts', 'no event has a field for free text, nor for a person'),
      test('src/domain/outcome/error-category.test.ts', 'errorOfOutcome has a category for every outcome but ok'),
      test('src/observe/event-bus.test.ts', 'leaves out what is no field of the event'),
      test('test/plane/events.test.ts', 'show its path from caller to caller, in order'),
      test('test/plane/events.test.ts', 'contain no value that went through the plane'),
    ],
    mutants: ['events-copy-every-fact'],
  },
  {
    id: 'B10',
    says: 'Hooks after a call get what really ran, how it ended as data, and the id of the attempt, once.',
    tests: [
      test(
        'src/gate/hooks/run-after-hooks.test.ts',
        'are invoked once each with effective arguments, structured outcome, id and duration, as frozen copies',
      ),
      test(
        'test/plane/gate-hooks.test.ts',
        'rewrite what runs; the audit has its digest, and the after hook gets what ran',
      ),
    ],
    mutants: ['observers-miss-the-arguments'],
  },
  {
    id: 'B11',
    says: 'wrapTool guards a tool once, keeps all else of it, throws the reason of a block, and returns a tool without code as it is.',
    tests: [
      test('src/gate/wrap/wrap-tool.test.ts', 'fires hooks once, however often it is wrapped'),
      test('src/gate/wrap/wrap-tool.test.ts', 'keeps prototype, members, flags, name and length'),
      test('src/gate/wrap/wrap-tool.test.ts', 'without code is returned as it is'),
      test('src/gate/wrap/wrap-tool.test.ts', 'throws the reason of a block'),
      test('src/gate/wrap/guard-entry.test.ts', 'hands its updates on as they come'),
    ],
    mutants: ['tools-are-wrapped-twice'],
  },
  {
    id: 'B12',
    says: 'The W3C trace of the caller goes through the plane into the tool and what that calls.',
    tests: [
      test('src/domain/call/trace-context.test.ts', 'takes a traceparent apart'),
      test('src/domain/call/trace-context.test.ts', 'gives what parseTrace reads, frozen'),
      test('src/worker/call-emitter.test.ts', 'that is the one of the caller, with a span for each stage below'),
      test('src/worker/call-emitter.test.ts', 'that the tool gets unchanged without a listener'),
      test('test/plane/events.test.ts', 'have the trace of the caller, which reaches the tools'),
    ],
    mutants: ['traces-begin-anew'],
  },
];
