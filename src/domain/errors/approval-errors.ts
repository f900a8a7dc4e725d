import type { CancelFacts } from '../call/cancelled-by.ts';
import { entry } from './error-entry.ts';

/** The end of every message to the model below. A model retries a bare "denied", or takes it for an outage. */
const FINAL = 'It did not run. This is final: do not try it again, and do not look for a way around it.';

/** Errors that end calls which needed a person's approval, whether or not a person was asked. */
export const APPROVAL_ERRORS = {
  APPROVAL_DENIED: entry({
    stage: 'gate',
    kind: 'denied',
    retry: 'never',
    say: (d: { tool: string; comment: string }) =>
      `A person was asked about this call of ${d.tool} and said no${d.comment === '' ? '' : ` (${d.comment})`}. ${FINAL}`,
  }),
  APPROVAL_EXPIRED: entry({
    stage: 'gate',
    kind: 'denied',
    retry: 'never',
    say: () => `A person was asked about this call and nobody decided in time. ${FINAL}`,
    fix: 'Decide sooner, see sallyport approvals list; or give the asking rule a longer timeout.',
  }),
  APPROVAL_ABORTED: entry({
    stage: 'gate',
    kind: 'cancelled',
    retry: 'never',
    say: (_facts: CancelFacts) => `The call was cancelled while a person was asked about it. ${FINAL}`,
  }),
  APPROVAL_SESSION_ENDED: entry({
    stage: 'gate',
    kind: 'denied',
    retry: 'never',
    say: () => `The session or its run ended while a person was asked about this call. ${FINAL}`,
  }),
  APPROVAL_NO_ROUTE: entry({
    stage: 'gate',
    kind: 'denied',
    retry: 'never',
    say: () => `This call needs a person's approval, and there is nobody who could give it. ${FINAL}`,
    fix: 'Name approvers in the policy or in the asking rule.',
  }),
  APPROVAL_DENIED_AT_ONCE: entry({
    stage: 'gate',
    kind: 'denied',
    retry: 'never',
    say: (d: { reason: string }) =>
      `This call needs a person's approval and was denied without asking: ${d.reason}. ${FINAL}`,
    fix: 'Let the run ask, or grant the call beforehand.',
  }),
  APPROVAL_NOT_ASKED: entry({
    stage: 'gate',
    kind: 'denied',
    retry: 'never',
    say: () => `This call needs a person's approval, and the question could not be registered. ${FINAL}`,
    fix: "See the worker's log for this call id.",
  }),
  APPROVAL_UNAVAILABLE: entry({
    stage: 'gate',
    kind: 'denied',
    retry: 'never',
    say: () => `This call needs a person's approval, and those who ask people could not be reached. ${FINAL}`,
    fix: 'Start what asks the approvers, and make sure that the worker can reach it.',
  }),
  APPROVAL_STORE_FAILED: entry({
    stage: 'gate',
    kind: 'denied',
    retry: 'never',
    say: () => `This call needs a person's approval, and the question or its answer could not be stored. ${FINAL}`,
    fix: 'See sallyport doctor.',
  }),
  APPROVAL_MALFORMED: entry({
    stage: 'gate',
    kind: 'denied',
    retry: 'never',
    say: () => `This call needs a person's approval, and the answer was none of those offered. ${FINAL}`,
    fix: 'Correct what passes the decisions on.',
  }),
  APPROVAL_ALREADY_DECIDED: entry({
    stage: 'gate',
    kind: 'denied',
    retry: 'never',
    say: () => `The approval that was shown for this call had already been decided or used. ${FINAL}`,
  }),
  APPROVAL_MISMATCH: entry({
    stage: 'gate',
    kind: 'denied',
    retry: 'never',
    say: (d: { what: string }) => `What was approved is not what would run now (${d.what} changed). ${FINAL}`,
  }),
} as const;
