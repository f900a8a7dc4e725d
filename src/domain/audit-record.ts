import type { ApprovalId, GrantId } from './approval.ts';
import type { CallId, RunId, SessionId, ToolId } from './ids.ts';
import type { Executed, OutcomeKind } from './outcome.ts';
import type { Identity } from './session.ts';

/** About the deployment itself. On Redis they are in its own lane only: roles that write to other lanes cannot make them up. */
export const DEPLOYMENT_EVENTS = [
  'policy.changed',
  'agents.changed',
  'plane.paused',
  'plane.resumed',
  'catalog.withdrawn',
  'token.created',
  'token.revoked',
  'login.offered',
  'login.succeeded',
  'login.refused',
] as const;
/** Changes of the deployment and of its sessions: each names who made it. None of them is about a call. */
export const ADMINISTRATIVE_EVENTS = [...DEPLOYMENT_EVENTS, 'session.opened', 'session.revoked', 'run.ended'] as const;
export type AdministrativeEvent = (typeof ADMINISTRATIVE_EVENTS)[number];

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
  ...ADMINISTRATIVE_EVENTS,
] as const;
export type AuditEvent = (typeof AUDIT_EVENTS)[number];

export const AUDIT_LIMITS = Object.freeze({
  argumentsBytes: 1024,
  detailLength: 200,
  /** Characters of a name in an administrative record. */
  nameLength: 256,
  commentLength: 512,
  /** Entries of `changed`; the last one then says how many more there were. */
  changes: 50,
  /** How far ahead of now a record may be that a view shows unasked: a role can append one of any time. */
  aheadMs: 86_400_000,
});

/**
 * The lane of records about the deployment itself: policy, tokens, logins. No subject hashes to it. On Redis its keys share the slot of
 * the records that it tells about, so that a change and its record are one step on a cluster too. The embedded store has one lane for all.
 */
export const DEPLOYMENT_LANE = -1;

/** For people. */
export function nameLane(lane: number): string {
  return lane === DEPLOYMENT_LANE ? 'the lane of the deployment' : `lane ${lane}`;
}

/** Why it was decided like that, and how it ended: what whoever made the record says about it. Each is there where it is known. */
export interface AuditFacts extends AdministrativeFacts {
  readonly parent?: string;
  readonly toolDigest?: string;
  /** Of the arguments that ran, where these are not the ones that were sent. */
  readonly effectiveDigest?: string;
  readonly permission?: string;
  readonly policyVersion?: number;
  readonly rule?: string;
  /** The hook that blocked the call, failed or timed out; with `HOOK_RESULT_WITHHELD`, the one that withheld the result. */
  readonly hook?: string;
  /** Hooks that changed the arguments. */
  readonly changedBy?: readonly string[];
  /** Result hooks that replaced what the tool gave. */
  readonly resultChangedBy?: readonly string[];
  /** SHA-256 of what the tool itself gave, without secrets, and of what was settled. There when a hook replaced or withheld it. */
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
  /** Since the worker had it. */
  readonly durationMs?: number;
  /** Of that, until the gate had let it through. Absent: less than ten milliseconds. */
  readonly gateMs?: number;
}

/** What an administrative record says beside `by`, `policyVersion`, the session and the identity. */
export interface AdministrativeFacts {
  /** Where the change came in. */
  readonly via?: string;
  /** Id of the gateway token that proved who it was. */
  readonly bearer?: string;
  /** What is different in the policy, or in the catalog: `rule no-mail added`, `module clock 1.0.0 withdrawn`. Names only. */
  readonly changed?: readonly string[];
  /** SHA-256 of the canonical policy, after the change and before it. */
  readonly policyDigest?: string;
  readonly previousDigest?: string;
  /** Id, name and scopes of the token that was made, revoked or used to log in. */
  readonly token?: string;
  readonly tokenName?: string;
  readonly scopes?: readonly string[];
  /** When the token or the session ends at the latest. */
  readonly expiresAt?: number;
  /** The session that delegated to this one. */
  readonly delegatedBy?: string;
  /** How many sessions a revocation ended: the session and those that it delegated to. */
  readonly sessions?: number;
  /** The token that was made opens unattended sessions only. */
  readonly unattended?: true;
}

/**
 * One decision about or ending of a call, or one administrative change. This is what the chain is made over, so nothing in it ever changes or goes away; whatever may have
 * to be erased stands in the payload, of which it holds a salted digest.
 */
export interface AuditRecord extends AuditFacts, Partial<Identity> {
  readonly version: 1;
  /** Incarnation of the store it comes from. */
  readonly store: string;
  readonly lane: number;
  /** Gapless per lane, from 1. */
  readonly sequence: number;
  /** Store time. */
  readonly at: number;
  readonly event: AuditEvent;
  /** Call, tool and digest are there exactly where the event is about a call; session and identity also in records about a session. */
  readonly callId?: CallId;
  readonly session?: SessionId;
  readonly run?: RunId;
  readonly tool?: ToolId;
  /** Of tool and arguments as they were sent, all of them. */
  readonly bodyDigest?: string;
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
  /** As a trail was read: a column that the record is found by says something else than its text (`call`, `time`). */
  readonly wrongColumn?: string;
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
  /** Who decided or changed something, as the record has it: `operator ada`. */
  readonly by?: string;
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

export function isAdministrative(event: AuditEvent): event is AdministrativeEvent {
  return (ADMINISTRATIVE_EVENTS as readonly string[]).includes(event);
}

type CallField = 'callId' | 'tool' | 'session' | 'run' | 'bodyDigest' | 'identity' | 'tenant' | 'subject' | 'agent';

/** A record, or the entry that it is made of, about a call: it has all that belongs to one. */
export type AboutCall<Kept> = Kept & { readonly [Name in keyof Kept & CallField]-?: NonNullable<Kept[Name]> };

export function isAboutCall<Kept extends { readonly callId?: CallId }>(kept: Kept): kept is AboutCall<Kept> {
  return kept.callId !== undefined;
}
