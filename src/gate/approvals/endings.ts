import type { Resolution } from '../../domain/approval.ts';
import { trouble } from '../../domain/errors.ts';
import type { APPROVAL_ERRORS } from '../../domain/approval-errors.ts';
import type { Executed, Outcome } from '../../domain/outcome.ts';

type ApprovalErrorCode = keyof typeof APPROVAL_ERRORS;

/** What became of a call that needed a person's word. */
export interface ApprovalEndingRow {
  /** What callbacks and audit are told: one of the five. */
  readonly resolution: Resolution;
  /** The error that ends the call; none where it goes on. */
  readonly code: ApprovalErrorCode | undefined;
  /** `by-the-tool`: the approval ended nothing, the call says for itself what ran. */
  readonly executed: Extract<Executed, 'no'> | 'by-the-tool';
}

/** The one table of endings. Whatever is not a yes that was offered, stored and matched ends the call, and nothing runs. */
export const APPROVAL_ENDINGS = {
  'allow-once': { resolution: 'allow-once', code: undefined, executed: 'by-the-tool' },
  'allow-always': { resolution: 'allow-always', code: undefined, executed: 'by-the-tool' },
  deny: { resolution: 'deny', code: 'APPROVAL_DENIED', executed: 'no' },
  timeout: { resolution: 'timeout', code: 'APPROVAL_EXPIRED', executed: 'no' },
  'caller-aborted': { resolution: 'cancelled', code: 'APPROVAL_ABORTED', executed: 'no' },
  /** Revoked, over, or without its run. */
  'session-ended': { resolution: 'cancelled', code: 'APPROVAL_SESSION_ENDED', executed: 'no' },
  /** Nobody could be asked. */
  'no-route': { resolution: 'cancelled', code: 'APPROVAL_NO_ROUTE', executed: 'no' },
  /** Denied without asking: an unattended run, or the same question was denied twice before. */
  'immediate-decision': { resolution: 'deny', code: 'APPROVAL_DENIED_AT_ONCE', executed: 'no' },
  /** It was asked, and nobody can say under which id. */
  'no-id': { resolution: 'cancelled', code: 'APPROVAL_NOT_ASKED', executed: 'no' },
  'gateway-unavailable': { resolution: 'cancelled', code: 'APPROVAL_UNAVAILABLE', executed: 'no' },
  'storage-error': { resolution: 'cancelled', code: 'APPROVAL_STORE_FAILED', executed: 'no' },
  'malformed-decision': { resolution: 'cancelled', code: 'APPROVAL_MALFORMED', executed: 'no' },
  'already-decided': { resolution: 'cancelled', code: 'APPROVAL_ALREADY_DECIDED', executed: 'no' },
  /** What was approved is not what would run. */
  mismatch: { resolution: 'cancelled', code: 'APPROVAL_MISMATCH', executed: 'no' },
} as const satisfies Record<string, ApprovalEndingRow>;

export type ApprovalEnding = keyof typeof APPROVAL_ENDINGS;

/** Facts that some of the sentences name. */
export interface EndingFacts {
  readonly tool?: string;
  /** Of whoever denied it. */
  readonly comment?: string;
  /** Why nobody was asked. */
  readonly reason?: string;
  /** What is not as it was approved. */
  readonly what?: string;
}

/** How the call ends; undefined for a yes, after which it goes on. */
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
      return trouble(code, { tool, comment }, more);
    case 'APPROVAL_DENIED_AT_ONCE':
      return trouble(code, { reason }, more);
    case 'APPROVAL_MISMATCH':
      return trouble(code, { what }, more);
    default:
      return trouble(code, {}, more);
  }
}
