import { onBothStores, test, type Requirement } from './requirement.ts';

const PLANE = 'test/plane/normalise.test.ts';
const INPUT = 'test/plane/input.test.ts';
const RESOURCES = 'test/plane/resources.test.ts';

/** Requirements: the arguments that are judged, shown and recorded are the ones that run. */
export const ROWS_BYTES: readonly Requirement[] = [
  {
    id: 'Y1',
    says: 'The rules judge the bytes that run: defaults are filled in before them; a schema that changes arguments is applied before them or ends the call, in both runners, on both stores, for zod, Valibot and ArkType.',
    tests: [
      test(PLANE, 'that trims and lowers does not carry " PROD" past them'),
      test(PLANE, 'with normalises hands them the normalised value'),
      test(PLANE, 'defaults of the published schema are filled in before them'),
      test('src/modules/catalog/fill-defaults.test.ts', 'and nothing more the second time'),
      test(PLANE, 'what is stripped, coerced or no JSON any more is invalid'),
      test(PLANE, 'and a tool gets them, not the'),
      test('test/plane/pinned.test.ts', 'that normalises is judged by what its schema makes of the arguments'),
      test('src/gate/wrap/gate-rules.test.ts', 'judge what the schema of the tool makes of a rewrite'),
      test('src/gate/wrap/gate-rules.test.ts', 'are not passed by a default of what'),
    ],
    mutants: [
      'transforms-run-unjudged',
      'rules-do-not-see-defaults',
      'branches-are-chosen-before-defaults',
      'tools-get-live-objects',
      'input-defaults-in-output-values',
      'input-defaults-behind-a-parser',
    ],
  },
  {
    id: 'Y2',
    says: 'Normalised arguments are parsed once: not again after a question, nor when the tool runs. Rewrites and edits are normalised and judged anew.',
    tests: [
      test(PLANE, 'arguments are parsed once, also over a question'),
      test(PLANE, 'what a hook rewrote is normalised again before them'),
      test('src/stages/gate/gate.test.ts', 'ends as every call that is'),
      test(PLANE, 'edited arguments are normalised, judged, and asked about again when that changed them'),
      test(PLANE, 'asked about again when a default was filled in, also if no rule asks about them'),
      test(PLANE, 'the key of a call stands for what the caller sent'),
    ],
    mutants: [
      'normalised-arguments-are-parsed-again',
      'a-question-is-parsed-again',
      'rewrites-are-not-normalised',
      'a-cancel-is-blamed-on-the-hook',
      'edits-run-unseen',
      'edits-that-no-rule-asks-about-run-unseen',
      'a-question-asked-again-forgets-its-approvers',
    ],
  },
  {
    id: 'Y3',
    says: 'explain gives no verdict on bytes that would not run.',
    tests: [
      test(
        'src/domain/policy/explain-call.test.ts',
        'asks the rules about the arguments with the defaults of the published schema',
      ),
      test('src/domain/policy/explain-call.test.ts', 'claims no verdict on arguments that a worker normalises first'),
    ],
    mutants: ['explain-judges-other-bytes'],
  },
  {
    id: 'Y4',
    says: 'The audit can keep the whole arguments of a privileged call, those that ran, for an auditor alone: sealed, bound to their record, erased with it. No worker holds the private key.',
    tests: [
      test('src/audit/seal-arguments.test.ts', 'do not open as those of another record'),
      test('src/audit/seal-arguments.test.ts', 'are broken by a change of any byte, and by a cut'),
      test('src/audit/auditor-keys.test.ts', 'are refused by a worker when they are private'),
      test(
        'src/stages/execute/begin.test.ts',
        'seals the arguments of a privileged tool, and does not run it when it cannot',
      ),
      test('test/plane/sealed.test.ts', 'are the whole arguments that ran, of a mebibyte too'),
      test('test/plane/sealed.test.ts', 'are what an approver made of them'),
      test('test/plane/sealed.test.ts', 'workers without a key, and after an erasure'),
      test('test/audit/sealed-cli.test.ts', 'says clearly why not'),
    ],
    mutants: ['seals-fit-every-record', 'the-sent-arguments-are-sealed'],
  },
  {
    id: 'Y5',
    says: 'The URI of a resource has one spelling for rules, questions, records and the code that reads it; no encoding leads out of its template.',
    tests: [
      test(RESOURCES, 'are judged by the URI that is read, however it was encoded'),
      test(RESOURCES, 'are not read by a URI that leads out of its place'),
      test(RESOURCES, 'are asked about with the URI that is read'),
      test('src/base/uri-template.test.ts', 'says different things with different canonical URIs'),
    ],
    mutants: ['rules-judge-encoded-uris', 'uris-lead-out-of-their-place'],
  },
  {
    id: 'Y6',
    says: 'Answers to a tool reach it as an approver saw them: the state is canonical JSON, shown value by value, and no form changes an answer.',
    tests: [
      test(INPUT, 'is not run with a state that reads otherwise than it looks'),
      test(INPUT, 'shows an approver the answers of earlier rounds as values'),
      test(INPUT, 'does not get an answer that its form made into another one'),
    ],
    mutants: ['states-are-read-loosely', 'forms-change-answers'],
  },
  {
    id: 'Y7',
    says: 'A schema that takes three workers with it is given up, and only lost workers count: not questions, edits, drains or hand-backs.',
    tests: [
      ...onBothStores(
        'reclaim counts each lost worker once, and no worker that gave the call back, handed it on or parked it',
      ),
      test(PLANE, 'a call that was edited three times is not taken for one whose schema ends workers'),
      test('src/stages/identify/identify.test.ts', 'gives up on a schema that took three workers with it'),
    ],
    mutants: [
      'questions-count-as-lost-workers',
      'embedded-questions-count-as-lost-workers',
      'a-drain-forgets-lost-workers',
      'embedded-drain-forgets-lost-workers',
    ],
  },
];
