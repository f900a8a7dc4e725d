import type { ApprovalId, GrantId } from './approval.ts';
import type { CallId, RunId, SessionId, ToolId } from './ids.ts';
import type { Executed, OutcomeKind } from './outcome.ts';
import type { Identity } from './session.ts';

export const AUDIT_EVENTS = [
  'call.intended',
  'call.settled',
  'call.cancelled',
  'call.expired',
  'call.resolved',
  'approval.requested',
  /** An approver saw what the question masks. */
  'approval.revealed',
  /** A yes that was not the last one needed. */
  'approval.voted',
  'approval.decided',
  'approval.expired',
  'approval.cancelled',
  'callback.unknown',
  'grant.created',
  'grant.used',
  'grant.revoked',
] as const;
export type AuditEvent = (typeof AUDIT_EVENTS)[number];

export const AUDIT_LIMITS = Object.freeze({ argumentsBytes: 1024, detailLength: 200 });

/** Why it was decided like that, and how it ended: what whoever made the record says about it. Each is there where it is known. */
export interface AuditFacts {
  readonly parent?: string;
  readonly toolDigest?: string;
  /** Of the arguments that ran, where these are not the ones that were sent. */
  readonly effectiveDigest?: string;
  readonly permission?: string;
  readonly policyVersion?: number;
  readonly rule?: string;
  /** The hook that blocked the call, failed or timed out. */
  readonly hook?: string;
  /** Hooks that changed the arguments. */
  readonly changedBy?: readonly string[];
  readonly detector?: string;
  readonly by?: string;
  readonly binding?: string;
  readonly askers?: readonly string[];
  readonly decision?: string;
  readonly editedDigest?: string;
  readonly resolution?: string;
  readonly claimedBy?: string;
  readonly outcome?: OutcomeKind;
  readonly executed?: Executed;
  readonly code?: string;
  /** Since the worker had it. */
  readonly durationMs?: number;
  /** Of that, until the gate had let it through. Absent: less than ten milliseconds. */
  readonly gateMs?: number;
}

/**
 * One decision or ending of one call. This is what the chain is made over, so nothing in it ever changes or goes away; whatever may have
 * to be erased stands in the payload, of which it holds a salted digest.
 */
export interface AuditRecord extends AuditFacts, Identity {
  readonly version: 1;
  /** Incarnation of the store it comes from. */
  readonly store: string;
  readonly lane: number;
  /** Gapless per lane, from 1. */
  readonly sequence: number;
  /** Store time. */
  readonly at: number;
  readonly event: AuditEvent;
  readonly callId: CallId;
  readonly session: SessionId;
  readonly run: RunId;
  readonly tool: ToolId;
  /** Of tool and arguments as they were sent, all of them. */
  readonly bodyDigest: string;
  readonly approval?: ApprovalId;
  readonly grant?: GrantId;
  readonly payloadDigest: string;
}

/** What can be erased: redacted arguments, and words of tools and people. */
export interface AuditPayload {
  /** Canonical JSON, secrets masked, cut. */
  readonly arguments?: string;
  readonly detail?: string;
  readonly comment?: string;
}

/** A record as it is kept: its one canonical form, its place in the chain, and what belongs to it and may be gone. */
export interface ChainedRecord {
  /** Canonical JSON of the AuditRecord. */
  readonly text: string;
  readonly chain: Uint8Array;
  /** Absent: erased. */
  readonly payload?: { readonly salt: Uint8Array; readonly bytes: Uint8Array };
}

/** How long a lane's chain is, and what it ends with. */
export interface AuditHead {
  readonly store: string;
  readonly lane: number;
  /** 0: nothing yet. */
  readonly sequence: number;
  readonly chain: Uint8Array;
  /** Of records and payloads that are kept. */
  readonly bytes: number;
}

export interface AuditFilter {
  /** Store time, inclusive. */
  readonly from?: number;
  /** Store time, exclusive. */
  readonly to?: number;
  readonly tenant?: string;
  readonly subject?: string;
  readonly agent?: string;
  readonly tool?: string;
  readonly event?: string;
  /** A kind, or `not-ok`. */
  readonly outcome?: string;
  readonly callId?: string;
}

/** What is said about the chain and signed. Kept beside it; the keys are not. */
export type AuditStatement =
  /** The chains were so long, and ended with this. */
  | { readonly kind: 'heads'; readonly at: number; readonly heads: readonly SignedHead[] }
  /** Everything of this lane up to here is gone, on purpose. */
  | {
      readonly kind: 'cut';
      readonly at: number;
      readonly cut: SignedHead;
      readonly why: 'age' | 'size';
      readonly dropped?: DroppedStatements;
    }
  /** Payloads of this subject's records are gone, on purpose, as far as each lane went then. */
  | {
      readonly kind: 'erasure';
      readonly at: number;
      readonly tenant: string;
      readonly subject: string;
      readonly heads: readonly SignedHead[];
    }
  /** From here on another key signs. */
  | { readonly kind: 'rotation'; readonly at: number; readonly nextKey: string }
  /** Statement 1. `older` counts the statements of a release that did not number them; `previous` is made over all of them. */
  | {
      readonly kind: 'chain-start';
      readonly at: number;
      readonly older: number;
      readonly heads: readonly SignedHead[];
    }
  /** An operator goes on although statements are lost: this one follows `after`, and the marks in `givenUp` no longer count. */
  | {
      readonly kind: 'rollback';
      readonly at: number;
      readonly after: number;
      readonly givenUp: readonly StatementMark[];
      readonly reason: string;
      readonly by: string;
    }
  | GapStatement
  | ForeignStatement;

/** What is signed: a statement, its number in the chain of statements, and the hash that the chain had before it. */
export type NumberedText = AuditStatement & { readonly number: number; readonly previous: string };

/** Statements up to `through` were deleted with the records they vouched for, except `kept`. `hash` is that of the chain there. */
export interface DroppedStatements {
  readonly through: number;
  readonly hash: string;
  readonly kept: readonly StatementMark[];
}

/** How far a chain of statements went: the number of a statement, and a hash. */
export interface StatementMark {
  readonly number: number;
  /** Hex. */
  readonly hash: string;
}

/** These records were lost, both ends included, and an operator goes on without them. */
export interface GapStatement {
  readonly kind: 'gap';
  readonly at: number;
  readonly store: string;
  readonly lane: number;
  readonly from: number;
  readonly to: number;
  readonly reason: string;
  readonly by: string;
}

/** A role has appended something to a lane's journal that the functions have not written. */
export interface ForeignStatement {
  readonly kind: 'foreign';
  readonly at: number;
  readonly store: string;
  readonly lane: number;
  /** It stood behind this record, and before the one after `through`. */
  readonly after: number;
  readonly through: number;
  /** Elements that were no records: they were stepped over. Their bytes together, and SHA-256 over their digests in order. */
  readonly elements: number;
  readonly bytes: number;
  readonly digest: string;
  /** Elements of the journal that were looked at, since the lane was made: first and last. */
  readonly positions: readonly [number, number];
  /** Records that look like ours and that the lane had not counted. They are in the chain. */
  readonly uncounted: number;
}

export interface SignedHead {
  readonly store: string;
  readonly lane: number;
  readonly sequence: number;
  /** Hex. */
  readonly chain: string;
}

export interface SignedStatement {
  /** Canonical JSON of the statement. */
  readonly text: string;
  readonly keyId: string;
  readonly signature: Uint8Array;
}

/** A statement at its place. Numbers below 1 belong to statements of a release that did not number them. */
export interface PlacedStatement extends SignedStatement {
  readonly number: number;
}
