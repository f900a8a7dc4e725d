import type { Resolution } from '../../domain/policy/approval.ts';
import { errorOutcome } from '../../domain/errors/errors.ts';
import type { APPROVAL_ERRORS } from '../../domain/errors/gate-errors.ts';
import type { Executed, Outcome } from '../../domain/outcome/outcome.ts';

type ApprovalErrorCode = keyof typeof APPROVAL_ERRORS;

/** One row of `APPROVAL_ENDINGS`: how a call ends that needed an approval. */
export interface ApprovalEndingRow {
  /** The resolution that callbacks and the audit get: one of the five `RESOLUTIONS`. */
  readonly resolution: Resolution;
  /** The error that ends the call. Undefined: the call goes on. */
  readonly code: ApprovalErrorCode | undefined;
  /** `by-the-tool`: the approval did not end the call, so the tool's outcome states whether it ran. */
  readonly executed: Extract<Executed, 'no'> | 'by-the-tool';
}

/**
 * The only table of approval endings. The call goes on only if an approver chose `allow-once` or `allow-always`, the question offered that
 * decision, and it was given for exactly this call. Every other ending ends the call, and nothing runs.
 */
export const APPROVAL_ENDINGS = {
  'allow-once': { resolution: 'allow-once', code: undefined, executed: 'by-the-tool' },
  'allow-always': { resolution: 'allow-always', code: undefined, executed: 'by-the-tool' },
  deny: { resolution: 'deny', code: 'APPROVAL_DENIED', executed: 'no' },
  timeout: { resolution: 'timeout', code: 'APPROVAL_EXPIRED', executed: 'no' },
  'caller-aborted': { resolution: 'cancelled', code: 'APPROVAL_ABORTED', executed: 'no' },
  /** The session was revoked or has ended, or its run has ended. */
  'session-ended': { resolution: 'cancelled', code: 'APPROVAL_SESSION_ENDED', executed: 'no' },
  /** No approver could be asked. */
  'no-route': { resolution: 'cancelled', code: 'APPROVAL_NO_ROUTE', executed: 'no' },
  /** Denied without asking an approver: the run is unattended, or the same call was denied twice before in this run. */
  'immediate-decision': { resolution: 'deny', code: 'APPROVAL_DENIED_AT_ONCE', executed: 'no' },
  /** The approver was asked, but returned no id for the question, so no answer can be matched to it. */
  'no-id': { resolution: 'cancelled', code: 'APPROVAL_NOT_ASKED', executed: 'no' },
  'gateway-unavailable': { resolution: 'cancelled', code: 'APPROVAL_UNAVAILABLE', executed: 'no' },
  'storage-error': { resolution: 'cancelled', code: 'APPROVAL_STORE_FAILED', executed: 'no' },
  'malformed-decision': { resolution: 'cancelled', code: 'APPROVAL_MALFORMED', executed: 'no' },
  'already-decided': { resolution: 'cancelled', code: 'APPROVAL_ALREADY_DECIDED', executed: 'no' },
  /** What was approved is not what would run now. */
  mismatch: { resolution: 'cancelled', code: 'APPROVAL_MISMATCH', executed: 'no' },
} as const satisfies Record<string, ApprovalEndingRow>;

export type ApprovalEnding = keyof typeof APPROVAL_ENDINGS;

/** Facts that some of the error messages include. */
export interface EndingFacts {
  readonly tool?: string;
  /** Comment of the approver who denied the call. */
  readonly comment?: string;
  /** Why no approver was asked. */
  readonly reason?: string;
  /** What differs from what was approved. */
  readonly what?: string;
}

/** The outcome that ends the call. Undefined if the approver allowed the call: it then goes on. */
export function endingOutcome(
  ending: ApprovalEnding,
  { tool = 'the tool', comment = '', reason = 'nobody may be asked', what = 'something' }: EndingFacts = {},
  { mayHaveRun = false }: { readonly mayHaveRun?: boolean } = {},
): Outcome | undefined {
  const { code } = APPROVAL_ENDINGS[ending];
  const more = mayHaveRun ? ({ executed: 'unknown' } as const) : {};
  switch (code) {
    case undefined:
      return undefined;
    case 'APPROVAL_DENIED':
      return errorOutcome(code, { tool, comment }, more);
    case 'APPROVAL_DENIED_AT_ONCE':
      return errorOutcome(code, { reason }, more);
    case 'APPROVAL_MISMATCH':
      return errorOutcome(code, { what }, more);
    default:
      return errorOutcome(code, {}, more);
  }
}
