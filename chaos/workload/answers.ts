import { digestOf } from './tools.ts';

/** What of an outcome is compared. */
export interface SeenOutcome {
  readonly kind: string;
  readonly executed: string;
  readonly code?: string;
  /** Of the whole outcome. */
  readonly digest: string;
  /** What the tool said about itself. */
  readonly echo?: { readonly key: string; readonly callId: string; readonly fence: number; readonly subject: string };
}

interface AnyOutcome {
  readonly kind: string;
  readonly executed: string;
  readonly structured?: unknown;
  readonly error?: { readonly code: string };
}

export function seenOutcome(outcome: AnyOutcome): SeenOutcome {
  const echo = outcome.structured as SeenOutcome['echo'] | undefined;
  return {
    kind: outcome.kind,
    executed: outcome.executed,
    digest: digestOf(outcome),
    ...(outcome.error === undefined ? {} : { code: outcome.error.code }),
    ...(echo === undefined || typeof echo.key !== 'string' ? {} : { echo }),
  };
}

/** What a caller writes down. */
export type CallerEntry =
  | { readonly what: 'began'; readonly pid: number }
  | { readonly what: 'submitted'; readonly index: number; readonly again: boolean }
  | { readonly what: 'known'; readonly index: number; readonly callId: string }
  | {
      readonly what: 'answered';
      readonly index: number;
      readonly kind: 'settled' | 'refused' | 'pending' | 'unknown' | 'session-ended';
      readonly by: 'key' | 'id';
      readonly callId?: string;
      readonly outcome?: SeenOutcome;
      /** Of the lane's audit, read after the answer came. */
      readonly auditSequence?: number;
    }
  | { readonly what: 'trouble'; readonly index: number; readonly code: string }
  | { readonly what: 'cancelling'; readonly index: number; readonly callId: string }
  | { readonly what: 'cancelled'; readonly index: number; readonly callId: string; readonly answer: string };

/** What the operator writes down. Times are those of asking; `atMs` is when the answer was there. */
export type OperatorEntry =
  | { readonly what: 'began'; readonly pid: number }
  | {
      readonly what: 'decided';
      readonly askedAtMs: number;
      readonly approval: string;
      readonly callId: string;
      readonly decision: string;
      readonly answer: string;
    }
  | { readonly what: 'revoked'; readonly askedAtMs: number; readonly session: number; readonly answer: string }
  /** Nobody knows how it is while this is under way, and for longer if no `policy` follows. */
  | { readonly what: 'policy-asked'; readonly closed: boolean }
  | { readonly what: 'policy'; readonly closed: boolean };
