import type { AttemptEnding, RunState } from '../call/attempt.ts';
import type { ResumedWith } from '../policy/approval.ts';
import type { CallState } from '../call/call.ts';
import type { CallerId, CallId, RunId, SessionId, ToolId, WorkerId } from '../identity/ids.ts';
import type { SessionEnding } from '../identity/session.ts';
import type { OverloadedBy, ShareFull, SubjectLimits } from '../call/subject-share.ts';
import type { Effect } from '../tool/tool.ts';

/* What the ports of calls (call-store.ts) take and answer. */

export interface Waiter {
  readonly callerId: CallerId;
  readonly correlationId: string;
  /** Whether this waiter also wants `started` and `progress` events. */
  readonly events: boolean;
}

/** The proof that the caller may call: a session's token, or the running call that makes this nested call. */
export type CallProof =
  | { readonly kind: 'token'; readonly tokenDigest: string }
  | { readonly kind: 'parent'; readonly owned: OwnedCall };

export interface AcceptRequest {
  readonly callId: CallId;
  readonly bodyDigest: string;
  readonly session: SessionId;
  readonly run: RunId;
  readonly proof: CallProof;
  readonly tool: ToolId;
  readonly pool: string;
  readonly serial: boolean;
  readonly envelope: Uint8Array;
  readonly deadlineMs: number;
  readonly waiter?: Waiter;
  /** Admission limits. The store compares them with its own counts before it writes anything. */
  readonly admission: AdmissionLimits;
}

export interface AdmissionLimits {
  readonly liveCalls: number;
  readonly liveBytes: number;
  readonly retainedBytes: number;
  /** Max entries of one subject in a pool's queue at once; further calls wait in the subject's backlog. */
  readonly subjectWindow: number;
  readonly subjectBacklog: number;
  /** Limits for one subject. `subjectShares` derives an absent one from the other limits. */
  readonly subjectLiveBytes?: number | undefined;
  readonly subjectParkedBytes?: number | undefined;
  readonly subjectRetainedBytes?: number | undefined;
  readonly subjectPendingApprovals?: number | undefined;
}

export type AcceptAnswer =
  | { readonly kind: 'accepted'; readonly callId: CallId }
  /** Same key, same body, still under way: the caller was added as a waiter. */
  | { readonly kind: 'attached'; readonly callId: CallId; readonly state: CallState }
  /** Same key, same body, already settled. */
  | { readonly kind: 'replayed'; readonly callId: CallId; readonly outcome: Uint8Array }
  | { readonly kind: 'conflict'; readonly callId: CallId }
  | { readonly kind: 'unauthenticated'; readonly ending: Exclude<SessionEnding, 'run-ended'> }
  /** Loop detection ended the run. Nothing was written. `restMs`: how long its conversation gets no new run; 0 when it may have one now. */
  | { readonly kind: 'run-ended'; readonly restMs: number }
  /** Without `retryAfterMs`, it is not known when there will be room. */
  | { readonly kind: 'overloaded'; readonly what: OverloadedBy; readonly retryAfterMs?: number }
  /** Only this subject has used up its share; other subjects can still make calls. */
  | ShareFull
  /** The store cannot write now, but it already has this call. Its result can be read; the caller cannot be added as a waiter. */
  | { readonly kind: 'known-but-full'; readonly callId: CallId; readonly problem: string };

export interface ClaimRequest {
  readonly lane: number;
  readonly pool: string;
  readonly workerId: WorkerId;
  readonly limit: number;
  readonly waitMs: number;
}

export interface ReclaimRequest {
  readonly lane: number;
  readonly pool: string;
  readonly workerId: WorkerId;
  readonly limit: number;
  /** Leases not renewed for this long are taken over. */
  readonly leaseMs: number;
}

export interface ClaimAnswer {
  readonly deliveries: readonly Delivery[];
  readonly lane: LaneState;
}

/** The state of a lane, read after the deliveries, in the same round trip. */
export interface LaneState {
  /** Changes with every revocation and every policy change. */
  readonly epoch: string;
  readonly policyVersion: number;
  /** Changes with every cancellation of a call that a worker holds. */
  readonly cancelSequence: string;
  readonly now: number;
}

/** Identifies a lease: a worker presents it to prove that it still holds a call. */
export interface OwnedCall {
  readonly callId: CallId;
  readonly pool: string;
  readonly workerId: WorkerId;
  readonly entryId: string;
  readonly fence: number;
}

export interface Delivery extends OwnedCall {
  readonly lane: number;
  readonly envelope: Uint8Array;
  readonly bodyDigest: string;
  readonly tool: ToolId;
  /** JSON text of the Identity, as stored with the session. The same text means the same identity. */
  readonly identity: string;
  readonly session: SessionId;
  readonly run: RunId;
  readonly epoch: string;
  /** The earlier of the absolute and the idle expiry of the session, as it was when the call was queued. */
  readonly sessionExpiresAt: number;
  readonly acceptedAt: number;
  readonly deadline: number;
  readonly runState: RunState;
  /**
   * True if the run's history keeps this attempt, because calls of the run were repeated or failed. Then its result has to be recorded. If
   * false, the result is recorded only if the call fails, or if the attempt has an `effective` signature: see `Attempt`.
   */
  readonly watched: boolean;
  /**
   * The run's earlier attempts, in the store's format. Absent where loop detection does not need them: nothing failed or was repeated
   * lately. See `openHistory`.
   */
  readonly history?: Uint8Array;
  /** Set from the second delivery on. Such a call must always write a start mark (`startCall`). */
  readonly recovered?: RecoveredCall;
  /**
   * The number of workers that handed the call back because they do not serve it. If it equals `fence - 1`, no worker has begun the call.
   */
  readonly handedBack: number;
  /** The number of workers that were lost while they held the call. Workers that drained, handed it back or parked it are not counted. */
  readonly lostDeliveries: number;
  /** A waiter asked for events when the call was accepted. */
  readonly eventsWanted: boolean;
  /** Set if the call was parked: the approval that allowed it. */
  readonly resumedWith?: ResumedWith;
}

export interface RecoveredCall {
  /** Start marks written so far. */
  readonly starts: number;
  /** The worker that held the call last wrote a start mark and did not settle the call. */
  readonly wasRunning: boolean;
  readonly effect?: Effect;
  readonly cancelRequested: boolean;
}

export interface RecheckRequest {
  readonly lane: number;
  readonly sessions: readonly { readonly session: SessionId; readonly run: RunId }[];
}

export interface RecheckAnswer {
  readonly lane: LaneState;
  readonly endings: readonly (SessionEnding | undefined)[];
}

export interface RenewRequest {
  readonly lane: number;
  readonly calls: readonly OwnedCall[];
}
export type RenewAnswer = 'renewed' | 'fenced' | 'cancel';

export interface StartRequest extends OwnedCall {
  readonly effect: Effect;
  readonly maxAttempts: number;
  /** Audit record of what is about to run; required for privileged tools. */
  readonly intent?: Uint8Array;
}

export type StartAnswer =
  | { readonly kind: 'started'; readonly starts: number }
  | { readonly kind: 'fenced' }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'expired' }
  | { readonly kind: 'session-ended'; readonly ending: SessionEnding }
  /** Only for a request with an intent: too many audit records wait for their sink, or the last drain was too long ago. */
  | { readonly kind: 'audit-late' }
  /**
   * The tool is unsafe, and an earlier lease started it and never settled the call. The tool may have run, so it must not be started again.
   */
  | { readonly kind: 'may-have-run' }
  /** A `read` or `idempotent` tool was started `maxAttempts` times, or twice if that is fewer, and the call never settled. */
  | { readonly kind: 'used-up'; readonly starts: number };

export interface SettleRequest extends OwnedCall {
  readonly outcome: Uint8Array;
  readonly releaseKey: boolean;
  /** The worker's part of the audit record; the store adds sequence, store time and call id. */
  readonly audit: Uint8Array;
  readonly retentionMs: number;
  /** The entry for the run's history. Absent: no entry. */
  readonly attempt?: SettledAttempt;
}

export interface SettledAttempt {
  readonly session: SessionId;
  readonly run: RunId;
  /** See `Attempt`. */
  readonly effective?: string;
  readonly target?: string;
  readonly tally?: number;
  /** The session counts one more stall with this signature: see `Stall`. */
  readonly stall?: string;
  readonly ending: Exclude<AttemptEnding, 'open'>;
  readonly result?: string;
  /** In millionths; added to the run's cost. */
  readonly cost?: number;
  /** Loop detection ends the run in the same step. For `restMs` its conversation gets no new run. */
  readonly endsRun?: { readonly restMs: number };
}
/** `absent`: the call's record is gone, e.g. because the store was replaced. */
export type SettleAnswer = 'settled' | 'fenced' | 'absent';

export interface AbandonRequest extends OwnedCall {
  readonly handedBack: boolean;
}

export interface CancelRequest {
  readonly callId: CallId;
  /**
   * Present for a caller: the call must belong to the agent of this session, or to an agent that acts for that one. Absent for an operator.
   */
  readonly session?: { readonly id: SessionId; readonly tokenDigest: string };
  /**
   * The digest of the call's tool, if that tool is published as `unsafe`. A call that names this digest runs only after a start mark. So if
   * a worker holds it without a mark, it has not run, and it is settled with `outcome`.
   */
  readonly unsafeDigest?: string;
  /**
   * Used for a call that is not parked, if no worker holds it and none has written a start mark, or if `unsafeDigest` proves that it has
   * not run.
   */
  readonly outcome: Uint8Array;
  /** Used if a worker holds the call without a start mark, so that a `read` tool may be running, or if the call may have run earlier. */
  readonly outcomeIfHeld: Uint8Array;
  /** Used if the call is parked for an approval and no earlier worker may have run it. */
  readonly outcomeIfParked: Uint8Array;
  readonly audit: Uint8Array;
  readonly retentionMs: number;
}
export type CancelAnswer = 'cancelled' | 'cancelling' | 'settled' | 'unknown';

export interface ReapRequest {
  readonly lane: number;
  readonly pools: readonly string[];
  readonly limit: number;
  readonly overdueMs: number;
  readonly consumerIdleMs: number;
  readonly retentionMs: number;
  readonly expired: Uint8Array;
  readonly timedOut: Uint8Array;
  readonly mayHaveRun: Uint8Array;
  /** Used for a call whose queue entry an operator deleted by hand. */
  readonly bodyLost: Uint8Array;
  /** Used for a parked call that no approver decided in time. */
  readonly approvalExpired: Uint8Array;
  /** Used for a parked call whose session ended first. */
  readonly sessionEnded: Uint8Array;
  readonly audit: Uint8Array;
}

export interface ReapAnswer {
  readonly expired: readonly CallId[];
  readonly overdue: readonly CallId[];
}

export interface NotifyRequest extends OwnedCall {
  readonly event: Uint8Array;
}

export interface TakeRepliesRequest {
  readonly lane: number;
  readonly callerId: CallerId;
  readonly acknowledged: readonly string[];
  readonly waitMs: number;
}

export interface TakenReply {
  /** Pass it in `acknowledged` with the next `takeReplies`. */
  readonly replyId: string;
  readonly items: readonly ReplyItem[];
}

export type ReplyItem =
  | { readonly kind: 'settled'; readonly correlationId: string; readonly outcome: Uint8Array }
  /** The outcome is too large to be included: read it by call id. */
  | { readonly kind: 'settled-by-reference'; readonly correlationId: string }
  | { readonly kind: 'event'; readonly correlationId: string; readonly event: Uint8Array };

export interface ListCallsRequest {
  readonly limit: number;
}

export interface ResolveRequest {
  readonly callId: CallId;
  readonly resolution: 'ran' | 'not-ran';
  readonly audit: Uint8Array;
}

export interface LaneUse {
  readonly lane: number;
  /** Bytes in use. Admission compares `liveBytes` and `retainedBytes` with its limits of the same names. */
  readonly liveBytes: number;
  readonly retainedBytes: number;
  /**
   * How late the deletion of expired data is: how long ago the retention of the oldest stored outcome ended. 0 if no expired outcome is
   * stored.
   */
  readonly overdueMs: number;
  /** Approvals that wait for a person. */
  readonly pendingApprovals: number;
  /** Numbers of the lane that were overwritten. They count as 0 above. */
  readonly damaged: readonly DamagedNumber[];
  /** For each share, the highest use by a single subject; not always the same subject. Absent: this process may not read it. */
  readonly fullestSubject?: SubjectLimits;
}

/** A number in the store with a value that no release writes: a program with the password of a Redis role has overwritten it. */
export interface DamagedNumber {
  readonly key: string;
  readonly field: string;
  /** What is wrong with the stored value. Shown after the name of the field. */
  readonly problem: string;
}

export interface QueueState {
  readonly lane: number;
  readonly pool: string;
  /** Calls in the queue that no worker holds. */
  readonly queued: number;
  readonly leased: number;
  /**
   * Calls that are not in the queue yet: they wait for earlier calls of their subject, or of their serial tool. Absent: the caller did not
   * ask for this number, or this process may not read it.
   */
  readonly backlog?: number;
}
