import type { AttemptEnding, RunState } from '../domain/attempt.ts';
import type { ResumedWith } from '../domain/approval.ts';
import type { CallRecord, CallState } from '../domain/call.ts';
import type { CallerId, CallId, RunId, SessionId, ToolId, WorkerId } from '../domain/ids.ts';
import type { SessionEnding } from '../domain/session.ts';
import type { OverloadedBy, ShareFull, SubjectLimits } from '../domain/subject-share.ts';
import type { Effect } from '../domain/tool.ts';

/**
 * The one record per call, and every transition it can make. Rules for all implementations:
 * - each method is one atomic, durable step, and is idempotent: repeating it after a lost answer changes nothing;
 * - time is the store's (`now`), never the process's;
 * - expected endings are answers; only trouble of the store itself is thrown (PlaneError);
 * - requests and answers are plain data, so that they can cross a socket;
 * - implementations may put many requests into one commit, and do.
 *
 * A fence is `base + deliveries`: the base is raised by every requeue, the delivery count by every reclaim.
 * `settleCall`, `renewCalls`, `startCall`, `askApproval`, `abandonCall` and `notifyWaiters` compare it with the store's;
 * a lower one means that somebody else owns the call, and nothing is changed.
 */
export interface CallStore {
  acceptCall(request: AcceptRequest): Promise<AcceptAnswer>;

  /**
   * Takes up to `limit` queued calls of a pool, waiting up to `waitMs` for the first. Being listed as pending is the lease;
   * it lasts `leaseMs` from the last claim or renewal. The lane's state is read *after* the delivery: if its epoch equals a
   * delivery's, nothing that the snapshot depends on was revoked in between.
   */
  claimCalls(request: ClaimRequest): Promise<ClaimAnswer>;

  /** Takes over calls whose lease ran out. Each comes with a raised fence and what is known about earlier starts. */
  reclaimCalls(request: ReclaimRequest): Promise<ClaimAnswer>;

  /** Reads again what the snapshots were made from, for calls whose lane has moved on. Same order as asked. */
  recheckSessions(request: RecheckRequest): Promise<RecheckAnswer>;

  /** Extends the leases. Tells which calls are lost (stop at once, settle nothing) or to be cancelled (abort, then settle). */
  renewCalls(request: RenewRequest): Promise<RenewAnswer[]>;

  /** Writes the start mark, and the intent of a privileged call. Nothing of an unsafe tool may run before it answers `started`. */
  startCall(request: StartRequest): Promise<StartAnswer>;

  /** Outcome, replies to all waiters, audit record, end of lease, promotion of the subject's next call: one step. */
  settleCall(request: SettleRequest): Promise<SettleAnswer>;

  /**
   * Gives a call back so that another worker gets it at once. `handedBack` says that this one does not serve it, and has not begun
   * it; this is counted. A start by this very lease no longer counts, unless the tool is unsafe.
   */
  abandonCall(request: AbandonRequest): Promise<'abandoned' | 'fenced'>;

  /** A call that has not started ends now, a parked one with its approval; for a started one the owner is told to abort. */
  cancelCall(request: CancelRequest): Promise<CancelAnswer>;

  /**
   * Settles what is past its deadline: calls nobody started, at once; started ones `overdueMs` later, when their worker had its
   * chance; parked ones with their approval, also when their session ended. Also forgets what has gone stale: consumers without pending
   * entries, counters of expired bytes, grants; and gives up callbacks whose claimant was lost.
   */
  reapCalls(request: ReapRequest): Promise<ReapAnswer>;

  /** Tells waiters that asked for events. Best effort; a lost lease sends nothing. */
  notifyWaiters(request: NotifyRequest): Promise<void>;

  /** Replies for one caller. What is listed in `acknowledged` was read and is deleted. Waits up to `waitMs` for the first. */
  takeReplies(request: TakeRepliesRequest): Promise<TakenReply[]>;

  readCall(callId: CallId): Promise<CallRecord | undefined>;
  /** Calls that are not settled, soonest deadline first, without their outcomes. */
  listCalls(request: ListCallsRequest): Promise<CallRecord[]>;
  /**
   * The worker that holds each call, in the order asked; undefined where no worker does. A `queued` call that a worker holds is under way:
   * the first run of a `read` or `idempotent` tool writes no start mark.
   */
  findHolders(callIds: readonly CallId[]): Promise<(WorkerId | undefined)[]>;
  /** An operator's word on an indeterminate call. The record keeps both facts. */
  resolveCall(request: ResolveRequest): Promise<'resolved' | 'not-indeterminate' | 'unknown'>;
  queueState(): Promise<QueueState[]>;
  /** How much each lane holds, and whether what may be forgotten is forgotten. */
  laneUse(): Promise<LaneUse[]>;
}

export interface Waiter {
  readonly callerId: CallerId;
  readonly correlationId: string;
  /** Wants `started` and `progress` events too. */
  readonly events: boolean;
}

/** Who vouches for the caller: a session's token, or the running call this one is made from. */
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
  /** Admission bounds; the store compares them with its own counts before it writes anything. */
  readonly admission: AdmissionLimits;
}

export interface AdmissionLimits {
  readonly liveCalls: number;
  readonly liveBytes: number;
  readonly retainedBytes: number;
  /** A subject's entries that stand in a pool's queue at once; the rest waits in the subject's backlog. */
  readonly subjectWindow: number;
  readonly subjectBacklog: number;
  /** One subject's shares. Where one is absent, `subjectShares` derives it from the other limits. */
  readonly subjectLiveBytes?: number | undefined;
  readonly subjectParkedBytes?: number | undefined;
  readonly subjectRetainedBytes?: number | undefined;
  readonly subjectPendingApprovals?: number | undefined;
}

export type AcceptAnswer =
  | { readonly kind: 'accepted'; readonly callId: CallId }
  /** Same key, same body, still under way: one more waiter. */
  | { readonly kind: 'attached'; readonly callId: CallId; readonly state: CallState }
  /** Same key, same body, already settled. */
  | { readonly kind: 'replayed'; readonly callId: CallId; readonly outcome: Uint8Array }
  | { readonly kind: 'conflict'; readonly callId: CallId }
  | { readonly kind: 'unauthenticated'; readonly ending: Exclude<SessionEnding, 'run-ended'> }
  /** Loop detection ended the run. Nothing was written. `restMs`: for so long its conversation gets no new run; 0 when it may have one. */
  | { readonly kind: 'run-ended'; readonly restMs: number }
  /** Without `retryAfterMs` it is not known when there will be room. */
  | { readonly kind: 'overloaded'; readonly what: OverloadedBy; readonly retryAfterMs?: number }
  /** Only this subject is refused. */
  | ShareFull
  /** The store cannot write now, and knows this call: what became of it can be read, not asked for again. */
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
  /** Leases not renewed for so long are taken over. */
  readonly leaseMs: number;
}

export interface ClaimAnswer {
  readonly deliveries: readonly Delivery[];
  readonly lane: LaneState;
}

/** Read after the deliveries, in the same round trip. */
export interface LaneState {
  /** Moves with every revocation and every policy change. */
  readonly epoch: string;
  readonly policyVersion: number;
  /** Moves with every cancellation that a worker has to hear of. */
  readonly cancelSequence: string;
  readonly now: number;
}

/** Names a lease: what a worker shows to prove that a call is still its own. */
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
  /** JSON text of the Identity, as stored with the session; the same text means the same identity. */
  readonly identity: string;
  readonly session: SessionId;
  readonly run: RunId;
  readonly epoch: string;
  /** By the snapshot, the earlier of absolute and idle expiry. */
  readonly sessionExpiresAt: number;
  readonly acceptedAt: number;
  readonly deadline: number;
  readonly runState: RunState;
  /** The run's history will show this attempt: what comes out has to be remembered. Of one that nothing like it came before, only that it failed counts. */
  readonly watched: boolean;
  /** The run's attempts before this one, as the store keeps them; only with a call that looks repeated. See `openHistory`. */
  readonly history?: Uint8Array;
  /** Set from the second delivery on: such a call must take the scripted `start`. */
  readonly recovered?: RecoveredCall;
  /** How many workers that do not serve it have handed it back. With `fence - 1` of them nobody has begun it. */
  readonly handedBack: number;
  /** How many workers were lost while they held it. A worker that drained, handed it back or parked it was not. */
  readonly lostDeliveries: number;
  /** A waiter asked for events when the call was accepted. */
  readonly eventsWanted: boolean;
  /** It was parked, and this approval allowed it. */
  readonly resumedWith?: ResumedWith;
}

export interface RecoveredCall {
  /** Start marks written so far. */
  readonly starts: number;
  /** The last owner wrote a start mark and never settled. */
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
  /** Audit record of the intent, obligatory for privileged tools. */
  readonly intent?: Uint8Array;
}

export type StartAnswer =
  | { readonly kind: 'started'; readonly starts: number }
  | { readonly kind: 'fenced' }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'expired' }
  | { readonly kind: 'session-ended'; readonly ending: SessionEnding }
  /** It has an intent, and too much or too old audit waits for its sink. */
  | { readonly kind: 'audit-late' }
  /** An unsafe tool was started before and never settled. */
  | { readonly kind: 'may-have-run' }
  /** The starts of a retry-safe tool are used up. */
  | { readonly kind: 'used-up'; readonly starts: number };

export interface SettleRequest extends OwnedCall {
  readonly outcome: Uint8Array;
  readonly releaseKey: boolean;
  /** The record's own part; sequence, store time and call id are added by the store. */
  readonly audit: Uint8Array;
  readonly retentionMs: number;
  /** What the run's history remembers of it. Absent: nothing. */
  readonly attempt?: SettledAttempt;
}

export interface SettledAttempt {
  readonly session: SessionId;
  readonly run: RunId;
  /** See `Attempt`. */
  readonly effective?: string;
  readonly target?: string;
  readonly tally?: number;
  /** The session counts it: see `Stall`. */
  readonly stall?: string;
  readonly ending: Exclude<AttemptEnding, 'open'>;
  readonly result?: string;
  /** Millionths; added to the run's. */
  readonly cost?: number;
  /** Loop detection ends the run in the same step. For `restMs` its conversation gets no new run. */
  readonly endsRun?: { readonly restMs: number };
}
/** `absent`: the record is gone, e.g. the store was replaced. */
export type SettleAnswer = 'settled' | 'fenced' | 'absent';

export interface AbandonRequest extends OwnedCall {
  readonly handedBack: boolean;
}

export interface CancelRequest {
  readonly callId: CallId;
  /** Present for a caller: the call must belong to this session's subject. Absent for an operator. */
  readonly session?: { readonly id: SessionId; readonly tokenDigest: string };
  /**
   * The digest of the call's tool, if that is published as `unsafe`. A call that names this digest runs only behind a start mark, so one
   * that is held without a mark has not run: it ends with `outcome`.
   */
  readonly unsafeDigest?: string;
  /** Used if nobody has started the call … */
  readonly outcome: Uint8Array;
  /** … and if a worker holds it without a start mark, so that a `read` tool may be running. */
  readonly outcomeIfHeld: Uint8Array;
  /** … and if somebody was being asked about it, and nobody may have run it before. */
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
  /** For a call whose entry somebody deleted by hand. */
  readonly bodyLost: Uint8Array;
  /** For a parked call that nobody decided in time … */
  readonly approvalExpired: Uint8Array;
  /** … and for one whose session ended first. */
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
  /** Give it back as `acknowledged` with the next `takeReplies`. */
  readonly replyId: string;
  readonly items: readonly ReplyItem[];
}

export type ReplyItem =
  | { readonly kind: 'settled'; readonly correlationId: string; readonly outcome: Uint8Array }
  /** Too large to ride along: read it by call id. */
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
  /** Compared with `liveBytes` and `retainedBytes` of the admission limits. */
  readonly liveBytes: number;
  readonly retainedBytes: number;
  /** How long ago the oldest outcome that is still there reached the end of its retention; 0 when there is none. */
  readonly overdueMs: number;
  /** Questions that wait for a person. */
  readonly pendingApprovals: number;
  /** Numbers of the lane that were overwritten. They count as 0 above. */
  readonly damaged: readonly DamagedNumber[];
  /** The most that a single subject uses of each share. Not always the same subject. Absent: this process may not look at it. */
  readonly fullestSubject?: SubjectLimits;
}

/** A number that no release writes there: it was overwritten with the password of a role. */
export interface DamagedNumber {
  readonly key: string;
  readonly field: string;
  /** What stands there, to follow the name of the field. */
  readonly problem: string;
}

export interface QueueState {
  readonly lane: number;
  readonly pool: string;
  /** Standing in the queue and not with a worker. */
  readonly queued: number;
  readonly leased: number;
}
