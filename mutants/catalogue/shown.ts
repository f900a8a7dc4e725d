import type { Mutant } from '../mutant.ts';
import { EMBEDDED, lua, REDIS, transition } from './places.ts';

const MASKER = 'src/observe/redact/question-masks.ts';
const MASKER_TEST = 'src/observe/redact/question-masks.test.ts';
const NEEDS_REVEAL = 'a masked question is allowed only by an approver who has revealed it';

/** Bugs against the requirements in requirements/rows-shown.ts: what an approver is shown is what runs. */
export const SHOWN_IS_RUN: readonly Mutant[] = [
  {
    id: 'question-masks-whatever-looks-secret',
    bug: 'A question masks everything that redaction finds, so a command dressed up as a secret is not shown.',
    file: MASKER,
    find: '.filter(([start, end]) => CREDENTIAL.test(text.slice(start, end)))',
    replace: '.filter(([start, end]) => end > start)',
    caughtBy: [
      { file: MASKER_TEST, title: 'never is a command that was dressed up as' },
      { file: MASKER_TEST, title: 'never holds a blank' },
    ],
  },
  {
    id: 'question-masks-named-values-as-a-whole',
    bug: 'A question masks the value of a member called token, whatever it holds.',
    file: MASKER,
    find: 'if (isNamed && CREDENTIAL.test(text))',
    replace: 'if (isNamed)',
    caughtBy: [{ file: MASKER_TEST, title: 'never is a command that was dressed up as' }],
  },
  {
    id: 'question-masks-commands-of-a-shell',
    bug: 'Free text of a privileged tool is masked like any other.',
    file: MASKER,
    find: 'new MaskFinder(privileged)',
    replace: 'new MaskFinder(privileged && schema === undefined)',
    caughtBy: [{ file: MASKER_TEST, title: 'is what the schema marks secret' }],
  },
  {
    id: 'text-passes-for-a-mark',
    bug: 'The arguments can hold a text that looks like a mark.',
    file: 'src/gate/approvals/render-question.ts',
    find: "return toVisibleJsonString(text).replaceAll(/\\[(?=secret\\b)/gi, '\\\\u005b');",
    replace: 'return toVisibleJsonString(text);',
    caughtBy: [
      { file: 'src/gate/approvals/render-question.test.ts', title: 'spells out a text that looks like a mark' },
    ],
  },
  {
    id: 'decision-ignores-the-reveal',
    bug: 'On Redis an approver can allow a question without having seen what is masked in it.',
    file: lua('decide-approval'),
    find: "if decision ~= 'deny' and not has_seen_all(asked[12], asked[13], by) then return { 'NOT_REVEALED' } end",
    replace: '',
    caughtBy: [{ file: REDIS, title: NEEDS_REVEAL }],
  },
  {
    id: 'embedded-decision-ignores-the-reveal',
    bug: 'In the embedded store an approver can allow a question without having seen what is masked in it.',
    file: transition('decide-approval'),
    find: "if (request.decision !== 'deny' && !hasSeenAll",
    replace: "if (request.decision === 'deny' && !hasSeenAll",
    caughtBy: [{ file: EMBEDDED, title: NEEDS_REVEAL }],
  },
  {
    id: 'reveal-counts-for-all-approvers',
    bug: 'After one approver has revealed a question, every other one can allow it unseen.',
    file: lua('shared/approval'),
    find: "return string.find('\\n' .. (revealed_by or '') .. '\\n', '\\n' .. by .. '\\n', 1, true) ~= nil",
    replace: "return (revealed_by or '') ~= '' and by ~= ''",
    caughtBy: [{ file: REDIS, title: 'a reveal counts once per principal and for no other one' }],
  },
  {
    id: 'embedded-reveal-counts-for-all-approvers',
    bug: 'In the embedded store, after one approver has revealed a question, every other one can allow it unseen.',
    file: transition('decide-approval'),
    find: '.some((principal) => isSame(principal, by));\n}\n\nfunction',
    replace: '.some((principal) => isSame(principal, principal) || isSame(principal, by));\n}\n\nfunction',
    caughtBy: [{ file: EMBEDDED, title: 'a reveal counts once per principal and for no other one' }],
  },
  {
    id: 'reveal-is-not-audited',
    bug: 'On Redis the audit does not say who has seen what was masked.',
    file: lua('reveal-approval'),
    find: "add_audit(records, 'approval.revealed', call_id, bytes, detail)",
    replace: '',
    caughtBy: [{ file: REDIS, title: NEEDS_REVEAL }],
  },
  {
    id: 'old-questions-need-no-reveal',
    bug: 'A question of a release that kept no list of masks can be allowed unseen.',
    file: transition('decide-approval'),
    find: 'return masks?.length === 0 ||',
    replace: 'return (masks ?? []).length === 0 ||',
    caughtBy: [{ file: EMBEDDED, title: 'a question without a list of masks' }],
  },
  {
    id: 'form-offers-yes-to-what-it-masks',
    bug: 'A form of an MCP client offers to allow what it does not show.',
    file: 'src/gateway/mcp/approval-form.ts',
    find: "masksOf(question).length === 0 ? question.decisions : ['deny', WAIT]",
    replace: "masksOf(question).length >= 0 ? question.decisions : ['deny', WAIT]",
    caughtBy: [{ file: 'test/mcp/approvals.test.ts', title: 'offers no yes while something is masked' }],
  },
  {
    id: 'digest-stands-next-to-a-mask',
    bug: 'The digest of arguments is shown while a part of them is masked, so that a short secret can be found by trying.',
    file: 'src/gate/approvals/render-question.ts',
    find: '...(writer.redacted > 0 ? {} : { digest: argumentsDigest(canonicalArguments) }),',
    replace: 'digest: argumentsDigest(canonicalArguments),',
    caughtBy: [
      {
        file: 'src/gate/approvals/render-question.test.ts',
        title: 'marks what is masked, with its length and nothing of its value',
      },
    ],
  },
  {
    id: 'masks-outgrow-their-call',
    bug: 'Each masked value keeps its whole pointer, however long the keys in it are, so a small call makes a huge question.',
    file: MASKER,
    find: 'this.isFull = this.#size > MAX_MASKS_SIZE;',
    replace: 'this.isFull = this.#size < 0;',
    caughtBy: [
      { file: MASKER_TEST, title: 'is all of it, as one mask, where the list of masks would be large' },
      { file: 'test/plane/gate-approvals.test.ts', title: 'are no larger than their call' },
    ],
  },
  {
    id: 'bindings-give-masked-values-away',
    bug: 'The binding of a question is made of what an approver knows and the arguments, so that a short secret can be found by trying.',
    file: 'src/stages/gate/ask-approval.ts',
    find: 'salt: randomId()',
    replace: "salt: ''",
    caughtBy: [
      { file: 'test/plane/gate-approvals.test.ts', title: 'have a binding that does not give away what they mask' },
    ],
  },
  {
    id: 'audit-tells-of-reveals-that-were-none',
    bug: 'The audit says that an approver revealed a question that masks nothing.',
    file: 'src/client/approvals.ts',
    find: 'if (isOpen && masksOf(question).length === 0)',
    replace: 'if (isOpen && masksOf(question).length < 0)',
    caughtBy: [
      {
        file: 'src/client/approvals.test.ts',
        title: 'reveal writes nothing to the audit for a question that masks nothing',
      },
    ],
  },
  {
    id: 'what-cannot-be-read-is-shown-unmasked',
    bug: 'A text that is nested too deeply to be read is shown as it is, with what is masked in it.',
    file: 'src/gate/approvals/render-question.ts',
    find: 'masks.length > 0',
    replace: 'masks.length > 1000',
    caughtBy: [
      {
        file: 'src/gate/approvals/render-question.test.ts',
        title: 'masks all of what cannot be read, if anything in it is masked',
      },
    ],
  },
];
