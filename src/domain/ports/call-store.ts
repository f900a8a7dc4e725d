import type { CallRecord } from '../call/call.ts';
import type { CallId, WorkerId } from '../identity/ids.ts';
import type {
  AcceptRequest,
  AcceptAnswer,
  ClaimRequest,
  ReclaimRequest,
  ClaimAnswer,
  RecheckRequest,
  RecheckAnswer,
  RenewRequest,
  RenewAnswer,
  StartRequest,
  StartAnswer,
  SettleRequest,
  SettleAnswer,
  AbandonRequest,
  CancelRequest,
  CancelAnswer,
  ReapRequest,
  ReapAnswer,
  NotifyRequest,
  TakeRepliesRequest,
  TakenReply,
  ListCallsRequest,
  ResolveRequest,
  LaneUse,
  QueueState,
} from './call-requests.ts';

/**
 * The one record per call, and every transition it can make. Rules for all implementations:
 * - each method is one atomic, durable step, and is idempotent: repeating it after a lost answer changes nothing;
 * - time is the store's (`now`), never the process's;
 * - expected results, including refusals, are returned; only failures of the store itself are thrown (PlaneError);
 * - requests and answers are plain data, so that they can cross a socket;
 * - implementations may put many requests into one commit, and do.
 *
 * A fence is `base + deliveries`: every requeue raises the base, every reclaim the delivery count. `settleCall`, `renewCalls`, `startCall`,
 * `askApproval`, `abandonCall` and `notifyWaiters` compare the worker's fence with the store's. If the worker's is lower, another worker
 * owns the call, and nothing is changed.
 */
export interface CallStore
  extends
    CallIntake,
    CallReplies,
    CallCancellation,
    CallReader,
    CallQueue,
    CallLeases,
    CallExecution,
    CallReaper,
    CallList,
    CallHolders,
    CallResolution,
    QueueReader,
    LaneUseReader {}

/** Accepts calls of callers, and the calls that tools make. */
export interface CallIntake {
  acceptCall(request: AcceptRequest): Promise<AcceptAnswer>;
}

/** Hands outcomes to the callers that wait for them. */
export interface CallReplies {
  /** Takes the replies for one caller. Replies listed in `acknowledged` were read and are deleted. Waits up to `waitMs` for the first. */
  takeReplies(request: TakeRepliesRequest): Promise<TakenReply[]>;
}

/** Cancels calls, for callers and operators. */
export interface CallCancellation {
  /**
   * A call without a start mark ends now; a parked one ends together with its approval. For a started call, its worker is asked to abort.
   */
  cancelCall(request: CancelRequest): Promise<CancelAnswer>;
}

/** Reads one call. */
export interface CallReader {
  readCall(callId: CallId): Promise<CallRecord | undefined>;
}

/** The queue that workers take calls from and give them back to. */
export interface CallQueue {
  /**
   * Takes up to `limit` queued calls of a pool, waiting up to `waitMs` for the first. A call's entry in the list of pending entries is its
   * lease; it lasts `leaseMs` from the last claim or renewal. The lane's state is read *after* the deliveries. If its epoch equals that of
   * a delivery, the session facts in that delivery are still valid: nothing was revoked in between.
   */
  claimCalls(request: ClaimRequest): Promise<ClaimAnswer>;
  /** Takes over calls whose lease ran out. Each comes with a raised fence and the facts about earlier starts. */
  reclaimCalls(request: ReclaimRequest): Promise<ClaimAnswer>;
  /**
   * Gives a call back so that another worker gets it at once. A start mark that this lease wrote no longer counts, unless the tool is
   * unsafe. `handedBack` means that this worker does not serve the tool and has not begun the call; the store counts such hand-backs.
   */
  abandonCall(request: AbandonRequest): Promise<'abandoned' | 'fenced'>;
}

/** Renews the leases of the calls that a worker holds, and reports the calls that it must stop. For workers and their supervisors. */
export interface CallLeases {
  /** Checks the sessions of held calls again, after the state of their lane has changed. Answers are in the order of the request. */
  recheckSessions(request: RecheckRequest): Promise<RecheckAnswer>;
  /** Extends the leases. Reports which calls are lost (stop at once, settle nothing) or have to be cancelled (abort, then settle). */
  renewCalls(request: RenewRequest): Promise<RenewAnswer[]>;
}

/** The steps of a call that a worker holds. */
export interface CallExecution {
  /**
   * Writes the start mark and, for a privileged call, the audit record of what is about to run. No code of an unsafe tool may run before
   * the answer `started`.
   */
  startCall(request: StartRequest): Promise<StartAnswer>;
  /**
   * Stores the outcome, replies to all waiters, adds the audit record, ends the lease and lets the subject's next call into the queue, all
   * in one step.
   */
  settleCall(request: SettleRequest): Promise<SettleAnswer>;
  /** Sends an event to the waiters that asked for events. Best effort; a worker that lost its lease sends nothing. */
  notifyWaiters(request: NotifyRequest): Promise<void>;
}

/** Ends calls that are past their deadline. For the supervisors of workers. */
export interface CallReaper {
  /**
   * Settles calls past their deadline. A queued call that no worker holds ends at once. A call that a worker holds ends `overdueMs` later,
   * so that the worker can still settle it. A parked call ends together with its approval, also when its session has ended. Also deletes
   * data that is no longer needed, such as expired outcomes and grants, and marks callbacks whose worker was lost as `unknown`.
   */
  reapCalls(request: ReapRequest): Promise<ReapAnswer>;
}

/** Lists the calls under way, for gateways and operators. */
export interface CallList {
  /** Lists unsettled calls, soonest deadline first, without their outcomes. */
  listCalls(request: ListCallsRequest): Promise<CallRecord[]>;
}

/** Finds the workers that hold calls, for operators. */
export interface CallHolders {
  /**
   * The worker that holds each call, in the order of the request; undefined where no worker does. A `queued` call that a worker holds may
   * be running: the first run of most `read` and `idempotent` tools writes no start mark.
   */
  findHolders(callIds: readonly CallId[]): Promise<(WorkerId | undefined)[]>;
}

/** Records what an operator knows about an indeterminate call. */
export interface CallResolution {
  /**
   * Records an operator's statement on whether an indeterminate call ran. The call's outcome stays `indeterminate`; the statement is stored
   * in addition to it.
   */
  resolveCall(request: ResolveRequest): Promise<'resolved' | 'not-indeterminate' | 'unknown'>;
}

/** Counts what waits in the queues, for gateways and operators. */
export interface QueueReader {
  /**
   * With `backlog`, also counts the calls in backlogs. On Redis that reads a hash with one field for each subject, so the metrics do not
   * ask for it.
   */
  queueState(request?: { readonly backlog?: boolean }): Promise<QueueState[]>;
}

/** Measures the data in each lane, for operators. */
export interface LaneUseReader {
  /** How much data each lane holds, and whether expired data is being deleted. */
  laneUse(): Promise<LaneUse[]>;
}
