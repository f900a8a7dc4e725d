import type { ApprovalId, GrantId } from '../policy/approval.ts';
import type { CallId, RunId, SessionId, ToolId } from '../identity/ids.ts';
import type { Executed, OutcomeKind } from '../outcome/outcome.ts';
import type { Identity } from '../identity/session.ts';

/**
 * Events about the deployment itself. On Redis their records are only in the deployment's own lane, so that Redis roles which write to
 * other lanes cannot forge them.
 */
export const DEPLOYMENT_EVENTS = [
  'policy.changed',
  'agents.changed',
  'plane.paused',
  'plane.resumed',
  'catalog.withdrawn',
  'pins.changed',
  'token.created',
  'token.revoked',
  'login.offered',
  'login.succeeded',
  'login.refused',
] as const;
/** Events about changes of the deployment and of its sessions. Each record names the actor. None of them is about a call. */
export const ADMINISTRATIVE_EVENTS = [...DEPLOYMENT_EVENTS, 'session.opened', 'session.revoked', 'run.ended'] as const;
export type AdministrativeEvent = (typeof ADMINISTRATIVE_EVENTS)[number];

export const AUDIT_EVENTS = [
  'call.intended',
  'call.settled',
  'call.cancelled',
  'call.expired',
  'call.resolved',
  'approval.requested',
  /** An approver revealed the masked values of the question. */
  'approval.revealed',
  /** An approver voted to allow the call, and more votes are needed. */
  'approval.voted',
  'approval.decided',
  'approval.expired',
  'approval.cancelled',
  'callback.unknown',
  'grant.created',
  'grant.used',
  'grant.revoked',
  ...ADMINISTRATIVE_EVENTS,
] as const;
export type AuditEvent = (typeof AUDIT_EVENTS)[number];

export const AUDIT_LIMITS = Object.freeze({
  argumentsBytes: 1024,
  detailLength: 200,
  /** Max characters of a name in an administrative record. */
  nameLength: 256,
  commentLength: 512,
  /** Max entries of `changed`. If there were more, the last entry states how many. */
  changes: 50,
  /**
   * How far in the future the time of a record may be for lists to show it. Records beyond it are shown only if a filter asks for them: a
   * Redis role can append a record with any time.
   */
  aheadMs: 86_400_000,
});

/**
 * The lane of records about the deployment itself: policy, tokens, logins. No subject hashes to it. On Redis, its keys share a cluster slot
 * with the data that the records are about, so that a change and its record are written in one atomic step on a cluster too. The embedded
 * store has one lane for everything.
 */
export const DEPLOYMENT_LANE = -1;

/** The lane's name for display. */
export function nameLane(lane: number): string {
  return lane === DEPLOYMENT_LANE ? 'the lane of the deployment' : `lane ${lane}`;
}

/** Why a decision was made and how a call ended, as the writer of the record states it. Each field is present where it is known. */
export interface AuditFacts extends AdministrativeFacts {
  readonly parent?: string;
  readonly toolDigest?: string;
  /** Digest of the arguments that ran; present only if they differ from the arguments that were sent. */
  readonly effectiveDigest?: string;
  readonly permission?: string;
  readonly policyVersion?: number;
  readonly rule?: string;
  /**
   * The hook that blocked the call, failed or timed out. If `code` is `HOOK_RESULT_WITHHELD`: the hook because of which the result was
   * withheld.
   */
  readonly hook?: string;
  /** Hooks that changed the arguments. */
  readonly changedBy?: readonly string[];
  /** Result hooks that replaced the tool's result. */
  readonly resultChangedBy?: readonly string[];
  /**
   * SHA-256 of the tool's own result, without secrets. `resultDigest` is the digest of the result that was settled instead. Both are
   * present if a hook replaced or withheld the result.
   */
  readonly ownResultDigest?: string;
  readonly resultDigest?: string;
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
  /** Milliseconds since the worker received the call. */
  readonly durationMs?: number;
  /** The part of `durationMs` up to the decision of the gate. Absent: less than ten milliseconds, or the call did not reach the gate. */
  readonly gateMs?: number;
}

/** The fields of an administrative record in addition to `by`, `policyVersion`, the session and the identity. */
export interface AdministrativeFacts {
  /** The interface through which the change was made: an `ActorSurface`. */
  readonly via?: string;
  /** Id of the gateway token that proved the actor. */
  readonly bearer?: string;
  /** What changed in the policy, the catalog or the pins: `rule no-mail added`, `module clock 1.0.0 withdrawn`. Names only. */
  readonly changed?: readonly string[];
  /** SHA-256 of the canonical policy after the change; `previousDigest` is that before the change. */
  readonly policyDigest?: string;
  readonly previousDigest?: string;
  /** Id, name and scopes of the token that was made, revoked or used to log in. */
  readonly token?: string;
  readonly tokenName?: string;
  readonly scopes?: readonly string[];
  /** Time at which the token or the session expires, unless it ends earlier. */
  readonly expiresAt?: number;
  /** The session that delegated to this one. */
  readonly delegatedBy?: string;
  /** Number of sessions that a revocation ended: the session itself and those that it delegated to. */
  readonly sessions?: number;
  /** True if the token that was created opens unattended sessions only. */
  readonly unattended?: true;
}

/**
 * One decision about a call, one outcome of a call, or one administrative change. The hash chain covers the record, so its fields never
 * change. Data that may have to be erased is in the payload; the record holds a salted digest of the payload.
 */
export interface AuditRecord extends AuditFacts, Partial<Identity> {
  readonly version: 1;
  /** Incarnation of the store that the record comes from. */
  readonly store: string;
  readonly lane: number;
  /** Number of the record in its lane, from 1 and without gaps. */
  readonly sequence: number;
  /** Store time at which the record was written. */
  readonly at: number;
  readonly event: AuditEvent;
  /**
   * `callId`, `tool` and `bodyDigest` are present exactly if the event is about a call; session and identity also in records about a
   * session.
   */
  readonly callId?: CallId;
  readonly session?: SessionId;
  readonly run?: RunId;
  readonly tool?: ToolId;
  /** Digest of the tool and of all arguments as they were sent. */
  readonly bodyDigest?: string;
  readonly approval?: ApprovalId;
  readonly grant?: GrantId;
  readonly payloadDigest: string;
}

/** The part of a record that can be erased: redacted arguments, and text written by tools and people. */
export interface AuditPayload {
  /** Canonical JSON with secrets masked, cut to `AUDIT_LIMITS.argumentsBytes`. */
  readonly arguments?: string;
  readonly detail?: string;
  readonly comment?: string;
}

/** A record as it is stored: its canonical text, its place in the chain, and its payload, which may have been erased. */
export interface ChainedRecord {
  /** Canonical JSON of the AuditRecord. */
  readonly text: string;
  readonly chain: Uint8Array;
  /** Absent: the payload was erased. */
  readonly payload?: { readonly salt: Uint8Array; readonly bytes: Uint8Array };
  /**
   * Set when a trail is read: the name of a database column of the record (`call`, `time`) whose value differs from the record's text. An
   * attacker who can write the tables may have changed it.
   */
  readonly wrongColumn?: string;
}

/** The end of a lane's chain: its length and its last hash. */
export interface AuditHead {
  readonly store: string;
  readonly lane: number;
  /** 0: the lane has no records yet. */
  readonly sequence: number;
  readonly chain: Uint8Array;
  /** Total bytes of the records and payloads that are kept. */
  readonly bytes: number;
}

export interface AuditFilter {
  /** Earliest store time, inclusive. */
  readonly from?: number;
  /** Latest store time, exclusive. */
  readonly to?: number;
  readonly tenant?: string;
  readonly subject?: string;
  readonly agent?: string;
  readonly tool?: string;
  readonly event?: string;
  /** An outcome kind, or `not-ok`. */
  readonly outcome?: string;
  readonly callId?: string;
  /** The person or program that decided or changed something, as the record names it: `operator ada`. */
  readonly by?: string;
}

/** A statement about the chains, which is signed. Statements are stored next to the chains; the signing keys are not. */
export type AuditStatement =
  /** `heads`: the lengths of the chains at this time, and their last hashes. */
  | { readonly kind: 'heads'; readonly at: number; readonly heads: readonly SignedHead[] }
  /** `cut`: all records of this lane up to this head were deleted on purpose. */
  | {
      readonly kind: 'cut';
      readonly at: number;
      readonly cut: SignedHead;
      readonly why: 'age' | 'size';
      readonly dropped?: DroppedStatements;
    }
  /** `erasure`: the payloads of this subject's records were erased on purpose, in each lane up to the head that it had then. */
  | {
      readonly kind: 'erasure';
      readonly at: number;
      readonly tenant: string;
      readonly subject: string;
      readonly heads: readonly SignedHead[];
    }
  /** `rotation`: another key signs all statements after this one. */
  | { readonly kind: 'rotation'; readonly at: number; readonly nextKey: string }
  /**
   * `chain-start`: statement 1. `older` counts the statements of an older release, which had no numbers; `previous` is a hash over all of
   * those.
   */
  | {
      readonly kind: 'chain-start';
      readonly at: number;
      readonly older: number;
      readonly heads: readonly SignedHead[];
    }
  /**
   * `rollback`: an operator continues although statements are lost. This statement follows `after`, and the marks in `givenUp` no longer
   * count.
   */
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

/** The text that is signed: a statement, its number in the chain of statements, and the hash of the chain up to the statement before it. */
export type NumberedText = AuditStatement & { readonly number: number; readonly previous: string };

/**
 * Describes a deletion: all statements up to `through` were deleted, together with the records that they signed. Of these statements only
 * those in `kept` remain. `hash` is the hash of the statement chain at `through`.
 */
export interface DroppedStatements {
  readonly through: number;
  readonly hash: string;
  readonly kept: readonly StatementMark[];
}

/** A position in the chain of signed statements: the number of a statement, and a hash. */
export interface StatementMark {
  readonly number: number;
  /** Hash of the statement chain, or of one statement, in hex. */
  readonly hash: string;
}

/** The records `from` to `to` (both included) were lost, and an operator continues without them. */
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

/** A Redis role has appended elements to a lane's journal that the Redis functions did not write. */
export interface ForeignStatement {
  readonly kind: 'foreign';
  readonly at: number;
  readonly store: string;
  readonly lane: number;
  /** The elements were found after record `after` and before the record that follows `through`. */
  readonly after: number;
  readonly through: number;
  /** Elements that were not records; they were skipped. `bytes` is their total size, `digest` is SHA-256 over their digests in order. */
  readonly elements: number;
  readonly bytes: number;
  readonly digest: string;
  /** Positions of the first and the last journal element that were examined, counted since the lane was created. */
  readonly positions: readonly [number, number];
  /**
   * Number of elements in the form of valid records that are not in the lane's own count, so a Redis role appended them by hand. They are
   * in the chain.
   */
  readonly uncounted: number;
}

export interface SignedHead {
  readonly store: string;
  readonly lane: number;
  readonly sequence: number;
  /** Hash of the chain up to this record, in hex. */
  readonly chain: string;
}

export interface SignedStatement {
  /** Canonical JSON of the statement. */
  readonly text: string;
  readonly keyId: string;
  readonly signature: Uint8Array;
}

/** A statement with its number. Numbers below 1 belong to statements of a release that did not number them. */
export interface PlacedStatement extends SignedStatement {
  readonly number: number;
}

export function isAdministrative(event: AuditEvent): event is AdministrativeEvent {
  return (ADMINISTRATIVE_EVENTS as readonly string[]).includes(event);
}

type CallField = 'callId' | 'tool' | 'session' | 'run' | 'bodyDigest' | 'identity' | 'tenant' | 'subject' | 'agent';

/** A record or an entry that is about a call. In its type, all fields that describe a call are present. */
export type AboutCall<Kept> = Kept & { readonly [Name in keyof Kept & CallField]-?: NonNullable<Kept[Name]> };

export function isAboutCall<Kept extends { readonly callId?: CallId }>(kept: Kept): kept is AboutCall<Kept> {
  return kept.callId !== undefined;
}
