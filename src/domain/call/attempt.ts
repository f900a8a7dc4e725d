/**
 * How an attempt can end. The store keeps the attempts of a run, so that a loop is detected even if different workers run its calls. An
 * attempt takes only a few bytes, because the history is sent to a worker with each call that looks repeated. Every attempt is recorded,
 * including refused ones.
 */
export const ATTEMPT_ENDINGS = ['open', 'ok', 'failed', 'refused', 'blocked'] as const;
/**
 * `open`: not settled yet. `failed`: the tool reported or caused a failure. `refused`: denied, invalid, unknown, cancelled, or blocked by a
 * hook. `blocked`: stopped by loop detection or a budget.
 */
export type AttemptEnding = (typeof ATTEMPT_ENDINGS)[number];

export interface Attempt {
  /** Number of the attempt within its run, from 1. */
  readonly sequence: number;
  /** Short digest of the tool's id. */
  readonly tool: string;
  /** Short digest of tool and arguments, as the caller sent them. */
  readonly raw: string;
  /**
   * Short digest of the tool and the arguments that ran, without their volatile values. Present only where it differs from `raw`: a hook or
   * a person changed the arguments, or a value in them is volatile.
   */
  readonly effective?: string;
  /**
   * For a call that may change something: short digest of the tool and of the target, such as a file, without the content that is written
   * to it.
   */
  readonly target?: string;
  /**
   * How often the call with this `raw` was made in the run so far, including attempts that the kept history no longer reaches. Slow
   * repetitions are not counted. Absent: unknown.
   */
  readonly tally?: number;
  /** Store time of the attempt, ms. */
  readonly at: number;
  readonly ending: AttemptEnding;
  /**
   * Short digest of the result, without its volatile parts. If the call failed: digest of the class of the failure. If it was blocked: a
   * mark of the detector. Absent while the attempt is open, and if its outcome reveals nothing about the tool, such as cancelled, expired
   * or stale.
   */
  readonly result?: string;
}

/** A run's counters, kept in addition to its attempts. The store sends them to a worker with every call. */
export interface RunState {
  /** Number of this attempt within its run, from 1. */
  readonly sequence: number;
  /** Number of this attempt among the run's attempts of the same tool. */
  readonly toolSequence: number;
  readonly startedAt: number;
  /** Cost of the run so far, in millionths of the unit in which tools state their cost. */
  readonly cost: number;
  /** Store times at which loop detection ended runs of the same session before this run was opened: the latest ones, oldest first. */
  readonly loopEnds: readonly number[];
  /** The stalls that the session has counted over all its runs. Absent: none. */
  readonly stalls?: readonly Stall[];
}

/**
 * A counter that a session keeps across its runs. It counts calls that gave the same result for the third time or more within their run, or
 * failed in the same way for the fourth time or more. A new run begins without a history, but with these counters.
 */
export interface Stall {
  /** The signature of the call without volatile values, or the class of a failure. */
  readonly signature: string;
  readonly count: number;
  /** Store time of the first counted call, ms. */
  readonly at: number;
}

/** Max number of different stalls that a session counts. The latest are kept. @internal */
export const MAX_STALLS = 8;
/**
 * The count of a stall starts again this long after its first call. A session may live for weeks and be shared by many conversations, and
 * old calls must not count against new ones.
 */
const STALL_MS = 30 * 60 * 1000;

/** The session's stalls after one more stalled call. Drops counts that are too old. */
export function addStall(stalls: readonly Stall[], signature: string, at: number): Stall[] {
  const live = stalls.filter((one) => at - one.at < STALL_MS);
  const known = live.find((one) => one.signature === signature);
  const others = live.filter((one) => one !== known);
  return [...others, { signature, count: (known?.count ?? 0) + 1, at: known?.at ?? at }].slice(-MAX_STALLS);
}

/** Max entries of `RunState.loopEnds`; the latest ones are kept. More of them would not make the checks of a new run stricter. */
export const COUNTED_LOOP_ENDS = 2;

/**
 * The attempts of a run before the current one, newest last; at most as many as the store keeps. Tools and signatures are given as numbers,
 * and equal texts have equal numbers: a detector compares thousands of them, and numbers compare faster.
 */
export interface RunHistory {
  readonly length: number;
  at(index: number): number;
  ending(index: number): AttemptEnding;
  tool(index: number): number;
  raw(index: number): number;
  /** The signature of the arguments that ran. Equals `raw` where nothing was changed. */
  effective(index: number): number;
  /** NaN where there is no result. NaN equals nothing, so two attempts without a result never count as equal. */
  result(index: number): number;
  /** NaN where there is no target, for the same reason as in `result`. */
  target(index: number): number;
  /** 0 where the tally is unknown. */
  tally(index: number): number;
}

/** The `result` of an attempt that a person denied. */
export const DENIED_RESULT = 'denied--';

/** Max number of attempts that the store keeps per run. */
export const HISTORY_LENGTH = 128;
/** Number of characters of a short digest. */
export const SIGNATURE_LENGTH = 8;
