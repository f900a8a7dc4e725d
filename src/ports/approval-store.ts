import type {
  Approval,
  ApprovalDecision,
  ApprovalId,
  ApprovalQuestion,
  ApprovalState,
  Grant,
  GrantId,
  NewGrant,
  Principal,
} from '../domain/approval.ts';
import type { CallId, SessionId, ToolId, WorkerId } from '../domain/ids.ts';
import type { SessionEnding } from '../domain/session.ts';
import type { ShareFull, SubjectLimits } from '../domain/subject-share.ts';
import type { OwnedCall } from './call-store.ts';

/**
 * Questions to people, and remembered answers. The rules of CallStore hold: each method is one atomic, durable, idempotent step in
 * store time. A question and the parking of its call are one step; so are a decision and whatever becomes of the call. A pending
 * approval has a parked call and a parked call a pending approval: whatever ends one of them ends the other in the same step.
 */
export interface ApprovalStore {
  /**
   * Parks the call and asks. No worker holds a parked call, it has no place in its subject's window (a serial one keeps its turn), the
   * approval's expiry replaces its deadline, and its session's idle expiry stands still. It ends with its session all the same:
   * `revokeSession` and `endRun` have it reaped at once.
   */
  askApproval(request: AskRequest): Promise<AskAnswer>;

  /**
   * The first answer wins. `allow-*` queues the call again under a higher fence and says so in `Delivery.resumedWith`; `deny` settles it
   * with the outcome given. With a quorum the first deny ends it, a yes counts once per principal, and the call is allowed for always
   * only if everybody said so. A yes to a question with masks counts only from a principal who has revealed it. What is past its expiry, or has lost its session, is not decided any more; the next reap writes that down.
   */
  decideApproval(request: DecideRequest): Promise<DecideAnswer>;

  /**
   * Records that a principal saw what the question masks, with an audit record in the same step. Once per principal: repeating it
   * changes nothing. It counts for this principal and this binding only. Whether they may decide was checked before; the store
   * keeps the requester out. Hand the text out after this answer, never before.
   */
  revealApproval(request: RevealRequest): Promise<RevealAnswer>;

  readApproval(id: ApprovalId): Promise<Approval | undefined>;
  /** Pending ones first, soonest expiry first; then the others, latest first. */
  listApprovals(request: ListApprovalsRequest): Promise<Approval[]>;
  /** The same ones in the same order, without their questions: for those who only look for changes or count. */
  listApprovalStates(request: ListApprovalsRequest): Promise<ApprovalStanding[]>;
  /** Pending ones whose id, or the last part of it, starts with this text. */
  matchApprovals(request: { readonly prefix: string; readonly limit: number }): Promise<ApprovalId[]>;

  /**
   * Takes resolved approvals whose callback waits: those this worker asked; others only when the worker that asked has gone, or left
   * them for `leaseMs`. A claim is made once. What is not finished within `leaseMs` becomes `unknown` at the next reap, and is never
   * given to anybody again.
   */
  claimCallbacks(request: ClaimCallbacksRequest): Promise<Approval[]>;
  /** Only by the worker that claimed it, and in time; otherwise nothing changes. */
  finishCallback(request: { readonly id: ApprovalId; readonly workerId: WorkerId }): Promise<void>;

  /** Soonest expiry first, revoked and used ones too: they are kept until they expire. */
  listGrants(request: { readonly limit: number }): Promise<Grant[]>;
  readGrant(id: GrantId): Promise<Grant | undefined>;
  /** Those of one subject for one tool that could still be used, latest first; also the one this very call has used already. */
  findGrants(request: FindGrantsRequest): Promise<Grant[]>;
  /** Counts one use for a call; repeating it for the same call counts nothing. `gone`: expired, revoked, used up or not this subject's. */
  useGrant(request: UseGrantRequest): Promise<'used' | 'gone' | 'fenced'>;
  revokeGrant(request: { readonly id: GrantId; readonly audit: Uint8Array }): Promise<'revoked' | 'unknown'>;
}

export interface ListApprovalsRequest {
  readonly state?: ApprovalState;
  readonly limit: number;
  /** So many are left out at the beginning of the list. */
  readonly skip?: number;
  /** The list ends before the questions together are larger than this, but has one at least. Questions can be megabytes long. */
  readonly maxBytes?: number;
}

export interface ApprovalStanding {
  readonly id: ApprovalId;
  readonly state: ApprovalState;
  readonly votes: number;
}

export interface AskRequest extends OwnedCall {
  readonly question: ApprovalQuestion;
  readonly timeoutMs: number;
  /** Somebody held the call before and may have run it; endings then do not say that it did not run. */
  readonly mayHaveRun: boolean;
  /** Whether anybody wants to hear of the resolution (`claimCallbacks`). */
  readonly callback: boolean;
  readonly audit: Uint8Array;
  /** What the call's subject may use; the store compares it with its own counts before it writes anything. */
  readonly shares: SubjectLimits;
}

export type AskAnswer =
  | { readonly kind: 'asked'; readonly expiresAt: number }
  | { readonly kind: 'fenced' }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'expired' }
  | { readonly kind: 'session-ended'; readonly ending: SessionEnding }
  /** Nothing was written: the call is still this worker's, and has to be settled. */
  | ShareFull;

export interface DecideRequest {
  readonly id: ApprovalId;
  /** What the approver saw. Another one decides nothing. */
  readonly binding: string;
  readonly decision: ApprovalDecision;
  /** Whether they are an approver at all was checked before; the store keeps the requester out. */
  readonly by: Principal;
  readonly comment?: string;
  /** Canonical JSON, only with a yes that needs no other. The worker validates, gates and hashes it before anything runs. */
  readonly editedArguments?: string;
  /** The binding of the question with these arguments. Kept with the vote: it says what was agreed to. Both or none. */
  readonly editedBinding?: string;
  /** For `allow-always`: made in the same step, in the subject's own scope. */
  readonly grant?: NewGrant;
  /** Once it is queued again, the call has what was left of its deadline when it was asked about, and at least so much. */
  readonly deadlineMs: number;
  /** How the call ends on `deny`, and how if somebody may have run it before. */
  readonly denied: Uint8Array;
  readonly deniedMayHaveRun: Uint8Array;
  readonly audit: Uint8Array;
  readonly retentionMs: number;
}

export type DecideAnswer =
  /** Final: this answer decided it. */
  | { readonly kind: 'decided'; readonly state: ApprovalState; readonly grant?: GrantId }
  /** A yes that is not the last one needed. */
  | { readonly kind: 'counted'; readonly missing: number }
  /** `pending`: this principal has already said another yes. */
  | { readonly kind: 'already-decided'; readonly state: ApprovalState }
  | { readonly kind: 'mismatch' }
  | { readonly kind: 'not-offered'; readonly decisions: readonly ApprovalDecision[] }
  | { readonly kind: 'not-yours' }
  /** Something in the question is masked, and this principal has not revealed it. */
  | { readonly kind: 'not-revealed' }
  | { readonly kind: 'unknown' };

export interface RevealRequest {
  readonly id: ApprovalId;
  /** What the approver saw, with its marks. Another one reveals nothing. */
  readonly binding: string;
  readonly by: Principal;
  readonly audit: Uint8Array;
}

export type RevealAnswer =
  | { readonly kind: 'revealed' }
  | { readonly kind: 'already-decided'; readonly state: ApprovalState }
  | { readonly kind: 'mismatch' }
  | { readonly kind: 'not-yours' }
  | { readonly kind: 'unknown' };

export interface ClaimCallbacksRequest {
  readonly lane: number;
  readonly workerId: WorkerId;
  /** New for every claim: asked again with the same one, the same approvals come. */
  readonly claimId: string;
  readonly limit: number;
  readonly leaseMs: number;
}

export interface FindGrantsRequest {
  readonly session: SessionId;
  readonly tool: ToolId;
  readonly callId?: CallId;
}

export interface UseGrantRequest {
  readonly id: GrantId;
  readonly owned: OwnedCall;
  readonly audit: Uint8Array;
}
