import { digestOf } from './tools.ts';

/** The parts of an outcome that are compared. */
export interface SeenOutcome {
  readonly kind: string;
  readonly executed: string;
  readonly code?: string;
  /** Digest of the whole outcome. */
  readonly digest: string;
  /** What the tool returned about its call. */
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

/** An entry in a caller's journal. */
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
      /** Sequence of the lane's audit, read after the answer had arrived. */
      readonly auditSequence?: number;
    }
  | { readonly what: 'trouble'; readonly index: number; readonly code: string }
  | { readonly what: 'cancelling'; readonly index: number; readonly callId: string }
  | { readonly what: 'cancelled'; readonly index: number; readonly callId: string; readonly answer: string };

/** An entry in the operator's journal. `askedAtMs` is when the request was sent; `atMs` is when its answer had arrived. */
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
  /** A change of the policy was requested. Whether the tool is closed is unknown until the `policy` entry that follows, if there is one. */
  | { readonly what: 'policy-asked'; readonly closed: boolean }
  | { readonly what: 'policy'; readonly closed: boolean };
