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
} from '../policy/approval.ts';
import type { CallId, SessionId, ToolId, WorkerId } from '../identity/ids.ts';
import type { SessionEnding } from '../identity/session.ts';
import type { ShareFull, SubjectLimits } from '../call/subject-share.ts';
import type { OwnedCall } from './call-requests.ts';

/**
 * Questions to people, and remembered answers. The rules of CallStore apply: each method is one atomic, durable, idempotent step in store
 * time. Asking a question and parking its call are one step; so are a decision and its effect on the call. Every pending approval has a
 * parked call, and every parked call a pending approval: a step that ends one of them also ends the other.
 */
export interface ApprovalStore
  extends ApprovalAsking, ApprovalDesk, ApprovalStates, CallbackClaims, GrantDesk, GrantUse {}

/** Asks people about a call that a worker holds. */
export interface ApprovalAsking {
  /**
   * Parks the call and stores the question. While a call is parked: no worker holds it, it takes no place in its subject's window (a serial
   * call keeps its turn), the approval's expiry replaces its deadline, and its session's idle expiry does not run. A parked call still ends
   * with its session: after `revokeSession` or `endRun` the next reap settles it.
   */
  askApproval(request: AskRequest): Promise<AskAnswer>;
}

/** Reads one approval. */
export interface ApprovalReader {
  readApproval(id: ApprovalId): Promise<Approval | undefined>;
}

/** Lists approvals with their questions, for approvers and operators. */
export interface ApprovalList {
  /** Lists pending approvals first, soonest expiry first; then the others, latest first. */
  listApprovals(request: ListApprovalsRequest): Promise<Approval[]>;
}

/** Decides, reveals and finds approvals. For approvers. */
export interface ApprovalDesk extends ApprovalReader, ApprovalList {
  /**
   * The first decision wins. `allow-*` queues the call again under a higher fence, and `Delivery.resumedWith` names the approval. `deny`
   * settles the call with the given outcome. With a quorum, the first deny ends the approval, each principal counts once towards the
   * quorum, and the result is `allow-always` only if every approver chose that. Only a principal that has revealed the masks of a question
   * can allow its call. An approval that is past its expiry, or whose session ended, can no longer be decided; the next reap records that.
   */
  decideApproval(request: DecideRequest): Promise<DecideAnswer>;
  /**
   * Records that a principal sees the masked values of the question, with an audit record in the same step. Once per principal: repeating
   * it changes nothing. It counts for this principal and this binding only. The code that calls this has already checked that the principal
   * is an approver; the store only rejects the subject who made the call, unless the question lets the requester decide. Show the masked
   * text only after this answer, never before.
   */
  revealApproval(request: RevealRequest): Promise<RevealAnswer>;
  /** Ids of pending approvals whose id, or its last part, starts with this prefix. */
  matchApprovals(request: { readonly prefix: string; readonly limit: number }): Promise<ApprovalId[]>;
}

/** Lists approvals without their questions, for gateways that watch for changes. */
export interface ApprovalStates {
  /**
   * Lists the same approvals as `listApprovals`, in the same order, but without their questions: for callers that only count approvals or
   * look for changes.
   */
  listApprovalStates(request: ListApprovalsRequest): Promise<ApprovalStanding[]>;
}

/** Hands resolved approvals to workers, which report them to hooks, notifiers and event listeners. */
export interface CallbackClaims {
  /**
   * Claims resolved approvals that this worker asked for and whose callback is pending. It also claims those that another worker asked for,
   * but only if that worker is gone, or if it has not claimed them within `leaseMs` after the decision. Each approval is claimed at most
   * once. A callback that is not finished within `leaseMs` becomes `unknown` at the next reap, and is never handed out again.
   */
  claimCallbacks(request: ClaimCallbacksRequest): Promise<Approval[]>;
  /** Reports that the callback is done. Changes nothing if another worker claimed it, or if a reap has already marked it `unknown`. */
  finishCallback(request: { readonly id: ApprovalId; readonly workerId: WorkerId }): Promise<void>;
}

/** Reads one grant. */
export interface GrantReader {
  readGrant(id: GrantId): Promise<Grant | undefined>;
}

/** Lists and revokes grants, for approvers and operators. */
export interface GrantDesk extends GrantReader {
  /** Lists the grants that expire soonest first. Revoked and used-up grants are included, because grants are kept until they expire. */
  listGrants(request: { readonly limit: number }): Promise<Grant[]>;
  revokeGrant(request: { readonly id: GrantId; readonly audit: Uint8Array }): Promise<'revoked' | 'unknown'>;
}

/** Finds the grants that allow a call, and counts their uses. For workers. */
export interface GrantUse {
  /**
   * Grants that one subject can still use for one tool, latest first. A grant that this same call has already used is included, even if no
   * uses are left.
   */
  findGrants(request: FindGrantsRequest): Promise<Grant[]>;
  /**
   * Counts one use for a call; repeating it for the same call counts nothing. `gone`: expired, revoked, used up, or not this subject's
   * grant.
   */
  useGrant(request: UseGrantRequest): Promise<'used' | 'gone' | 'fenced'>;
}

export interface ListApprovalsRequest {
  readonly state?: ApprovalState;
  readonly limit: number;
  /** The number of approvals to leave out at the start of the list. */
  readonly skip?: number;
  /** The list stops before its questions exceed this total size, but has at least one entry. Questions can be megabytes long. */
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
  /**
   * Whether the tool may have run before the question was asked. If so, an outcome for a denied or expired question must not state that the
   * tool did not run.
   */
  readonly mayHaveRun: boolean;
  /** Whether workers must report the resolution: if true, `claimCallbacks` returns the approval once it is resolved. */
  readonly callback: boolean;
  readonly audit: Uint8Array;
  /** Limits for the call's subject. The store compares them with its own counts before it writes anything. */
  readonly shares: SubjectLimits;
}

export type AskAnswer =
  | { readonly kind: 'asked'; readonly expiresAt: number }
  | { readonly kind: 'fenced' }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'expired' }
  | { readonly kind: 'session-ended'; readonly ending: SessionEnding }
  /** The subject has used up one of its shares. Nothing was written: this worker still holds the call and has to settle it. */
  | ShareFull;

export interface DecideRequest {
  readonly id: ApprovalId;
  /** The binding that the approver saw. A different binding decides nothing. */
  readonly binding: string;
  readonly decision: ApprovalDecision;
  /**
   * The code that calls this has already checked that this principal is an approver. The store only rejects the subject who made the call,
   * unless the question lets the requester decide.
   */
  readonly by: Principal;
  readonly comment?: string;
  /**
   * The arguments that the approver wrote in place of those in the question, as canonical JSON. Accepted only if the decision allows the
   * call and the quorum is 1. The worker validates, gates and hashes them before anything runs.
   */
  readonly editedArguments?: string;
  /** The binding of the question with the edited arguments, kept with the vote as proof of what was approved. Set both or neither. */
  readonly editedBinding?: string;
  /** For `allow-always`: the grant that the store creates in the same step, for the subject of the call. */
  readonly grant?: NewGrant;
  /**
   * If the call is allowed, it is queued again with a new deadline: at least this long from now, or the time that was left when the call
   * was parked if that is longer.
   */
  readonly deadlineMs: number;
  /** The outcomes for `deny`: `denied`, or `deniedMayHaveRun` if an earlier worker may have run the call. */
  readonly denied: Uint8Array;
  readonly deniedMayHaveRun: Uint8Array;
  readonly audit: Uint8Array;
  readonly retentionMs: number;
}

export type DecideAnswer =
  /** This decision resolved the approval. */
  | { readonly kind: 'decided'; readonly state: ApprovalState; readonly grant?: GrantId }
  /** The vote to allow the call was counted, and `missing` more are needed. */
  | { readonly kind: 'counted'; readonly missing: number }
  /**
   * The decision came too late: `state` is the final state of the approval. If it is `pending`, this principal has voted `allow-once`
   * before and now sent `allow-always`, or the reverse: the first vote counts.
   */
  | { readonly kind: 'already-decided'; readonly state: ApprovalState }
  | { readonly kind: 'mismatch' }
  | { readonly kind: 'not-offered'; readonly decisions: readonly ApprovalDecision[] }
  | { readonly kind: 'not-yours' }
  /** The question has masks that this principal has not revealed. */
  | { readonly kind: 'not-revealed' }
  | { readonly kind: 'unknown' };

export interface RevealRequest {
  readonly id: ApprovalId;
  /** The binding that the approver saw, with its masks. A different binding reveals nothing. */
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
  /** New for every claim. Repeating a claim with the same id returns the same approvals. */
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
