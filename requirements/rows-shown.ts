import { onBothStores, test, type Requirement } from './requirement.ts';

/** Requirements: what an approver is shown is what runs. */
export const ROWS_SHOWN: readonly Requirement[] = [
  {
    id: 'S1',
    says: 'An approver is shown what runs: the writer of the arguments cannot hide a command by making it look like a secret, on no surface.',
    tests: [
      test('src/observe/redact/question-masks.test.ts', 'never is a command that was dressed up as'),
      test(
        'src/observe/redact/question-masks.test.ts',
        'never holds a blank, a quote, a line end, or what a shell acts on',
      ),
      test('src/observe/redact/question-masks.test.ts', 'is nothing in free text of a privileged tool'),
      test('src/observe/redact/question-masks.test.ts', 'is what the schema marks secret'),
      test('src/gate/approvals/render-question.test.ts', 'spells out a text that looks like a mark'),
      test('test/gateway/api-approvals.test.ts', 'a command that was dressed up as a secret is shown'),
      test('test/cli/approvals.test.ts', 'show prints all of a command that was disguised as a secret'),
      test('test/console/approvals.test.ts', 'shows a command that was dressed up as a secret'),
      test('test/mcp/approvals.test.ts', 'shows a command that was dressed up as a secret'),
    ],
    mutants: [
      'question-masks-whatever-looks-secret',
      'question-masks-named-values-as-a-whole',
      'question-masks-commands-of-a-shell',
      'text-passes-for-a-mark',
    ],
  },
  {
    id: 'S2',
    says: 'What is masked is revealed to each approver for themselves, in the audit, before their yes counts. Where it cannot be revealed, no yes is offered.',
    tests: [
      test(
        'src/gate/approvals/render-question.test.ts',
        'masks all of what cannot be read, if anything in it is masked',
      ),
      test(
        'src/gate/approvals/render-question.test.ts',
        'marks what is masked, with its length and nothing of its value',
      ),
      test('test/plane/gate-approvals.test.ts', 'have a binding that does not give away what they mask'),
      test('src/cli/show-approval.test.ts', 'holds nothing that a masked value could be tried against'),
      test('src/client/approvals.test.ts', 'reveal writes nothing to the audit for a question that masks nothing'),
      ...onBothStores('a masked question is allowed only by an approver who has revealed it'),
      ...onBothStores('a reveal counts once per principal and for no other one, also in a quorum'),
      ...onBothStores('a reveal that names another binding, by the requester, or of no question, reveals nothing'),
      ...onBothStores('a question without a list of masks, as older releases wrote them, needs a reveal'),
      test('test/gateway/api-approvals.test.ts', 'only their own yes counts after it'),
      test('test/cli/approvals.test.ts', 'a yes needs the reveal'),
      test('test/console/approvals.test.ts', 'allows a question with masks only after it was revealed on this page'),
      test('test/mcp/approvals.test.ts', 'offers no yes while something is masked, and names where it can be revealed'),
      test('test/plane/approval-webhook.test.ts', 'names the command that reveals a question with masks'),
    ],
    mutants: [
      'digest-stands-next-to-a-mask',
      'decision-ignores-the-reveal',
      'embedded-decision-ignores-the-reveal',
      'reveal-counts-for-all-approvers',
      'embedded-reveal-counts-for-all-approvers',
      'reveal-is-not-audited',
      'old-questions-need-no-reveal',
      'form-offers-yes-to-what-it-masks',
      'what-cannot-be-read-is-shown-unmasked',
      'audit-tells-of-reveals-that-were-none',
      'bindings-give-masked-values-away',
    ],
  },
  {
    id: 'S3',
    says: 'A question is about as large as its call: the list of what it masks is bounded, whatever the arguments are.',
    tests: [
      test(
        'src/observe/redact/question-masks.test.ts',
        'is all of it, as one mask, where the list of masks would be large',
      ),
      test(
        'test/plane/gate-approvals.test.ts',
        'are no larger than their call, however long the keys above masked values are',
      ),
    ],
    mutants: ['masks-outgrow-their-call'],
  },
];
