import type {
  Approval,
  ApprovalDecision,
  ApprovalId,
  ApprovalQuestion,
  ApprovalState,
  Grant,
  GrantId,
  Principal,
} from '../domain/approval.ts';
import type { SessionId, ToolId, WorkerId } from '../domain/ids.ts';
import type { OwnedCall } from './call-store.ts';

/**
 * Questions to people, and remembered answers. The rules of CallStore hold: each method is one atomic, durable, idempotent step in
 * store time. A question and the parking of its call are one step; so are a decision and whatever becomes of the call.
 */
export interface ApprovalStore {
  /** Parks the call and asks. The approval's timeout replaces the call's deadline; the session's idle expiry does not count meanwhile. */
  askApproval(request: AskRequest): Promise<'asked' | 'fenced'>;

  /**
   * The first answer wins. `allow-*` queues the call again under a higher fence, with the approval's id; `deny` settles it with the
   * outcome given. With a quorum the first deny ends it, and a yes counts once per principal.
   */
  decideApproval(request: DecideRequest): Promise<DecideAnswer>;

  readApproval(id: ApprovalId): Promise<Approval | undefined>;
  /** Soonest expiry first. */
  listApprovals(request: { readonly state?: ApprovalState; readonly limit: number }): Promise<Approval[]>;

  /** Takes resolved approvals whose callback nobody has claimed. A claim is made once; what its owner did not finish is `unknown`. */
  claimCallbacks(request: {
    readonly lane: number;
    readonly workerId: WorkerId;
    readonly limit: number;
  }): Promise<Approval[]>;
  finishCallback(request: { readonly id: ApprovalId; readonly workerId: WorkerId }): Promise<void>;

  listGrants(request: { readonly limit: number }): Promise<Grant[]>;
  /** Those of one subject for one tool that could still be used. */
  findGrants(request: { readonly session: SessionId; readonly tool: ToolId }): Promise<Grant[]>;
  /** Counts one use for a call; repeating it for the same call counts nothing. */
  useGrant(request: { readonly id: GrantId; readonly owned: OwnedCall }): Promise<'used' | 'gone' | 'fenced'>;
  revokeGrant(id: GrantId): Promise<'revoked' | 'unknown'>;
}

export interface AskRequest extends OwnedCall {
  readonly question: ApprovalQuestion;
  readonly timeoutMs: number;
  readonly audit: Uint8Array;
}

export interface DecideRequest {
  readonly id: ApprovalId;
  /** What the approver saw. Another one decides nothing. */
  readonly binding: string;
  readonly decision: ApprovalDecision;
  readonly by: Principal;
  readonly comment?: string;
  /** Canonical JSON. The worker validates, gates and hashes it before anything runs. */
  readonly editedArguments?: string;
  /** For `allow-always`: made in the same step. */
  readonly grant?: Grant;
  /** Time the call has once it is queued again. */
  readonly deadlineMs: number;
  /** How the call ends on `deny`. */
  readonly denied: Uint8Array;
  readonly audit: Uint8Array;
  readonly retentionMs: number;
}

export type DecideAnswer =
  /** Final: this answer decided it. */
  | { readonly kind: 'decided'; readonly state: ApprovalState }
  /** A yes that is not the last one needed. */
  | { readonly kind: 'counted'; readonly missing: number }
  | { readonly kind: 'already-decided'; readonly state: ApprovalState }
  | { readonly kind: 'mismatch' }
  | { readonly kind: 'not-offered'; readonly decisions: readonly ApprovalDecision[] }
  | { readonly kind: 'not-yours' }
  | { readonly kind: 'unknown' };

/** What a delivery carries after a decision: `Delivery.resumedWith`. */
export interface ResumedWith {
  readonly approval: ApprovalId;
}
