/**
 * What the store remembers of a run's calls, so that a loop can be seen whoever works on it. Short on purpose: it travels with calls
 * that look repeated. Every attempt is recorded, refused ones too.
 */
export const ATTEMPT_ENDINGS = ['open', 'ok', 'failed', 'refused', 'blocked'] as const;
/**
 * `open`: not settled yet. `failed`: the tool said or did so. `refused`: denied, invalid, unknown, cancelled, or blocked by a hook.
 * `blocked`: by loop detection or a budget.
 */
export type AttemptEnding = (typeof ATTEMPT_ENDINGS)[number];

export interface Attempt {
  /** Of the run, from 1. */
  readonly sequence: number;
  /** Short digest of the tool's id. */
  readonly tool: string;
  /** Short digest of tool and arguments, as the caller sent them. */
  readonly raw: string;
  /**
   * The same of the arguments that ran, without their volatile values. Only where that is another one: a hook or a person changed the
   * arguments, or something in them is volatile.
   */
  readonly effective?: string;
  /** Short digest of tool and target of a call that may change something: which file, which record. Without what is written to it. */
  readonly target?: string;
  /** How often this very call was made up to now, also before what a history reaches back to. Absent: not known. */
  readonly tally?: number;
  /** Store time, ms. */
  readonly at: number;
  readonly ending: AttemptEnding;
  /**
   * Short digest of what came out, volatile parts scrubbed; of a failure, its class; of a block, which detector it was. Absent while
   * open, and where nothing was learned about the tool: cancelled, expired, stale.
   */
  readonly result?: string;
}

/** The counters beside the attempts; these travel with every call. */
export interface RunState {
  /** Of this attempt. */
  readonly sequence: number;
  /** Of this attempt among those of its tool. */
  readonly toolSequence: number;
  readonly startedAt: number;
  /** Millionths of the unit in which tools state their cost. */
  readonly cost: number;
  /** When loop detection ended runs of the same session before this run was opened: store times of the latest ones, oldest first. */
  readonly loopEnds: readonly number[];
  /** What has brought nothing new in the runs of the session. Absent: nothing. */
  readonly stalls?: readonly Stall[];
}

/**
 * The counter that a session keeps beside its runs: calls that gave the same result for the third time or more within their run, or
 * failed in the same way for the fourth. A new run begins without a history, but with these.
 */
export interface Stall {
  /** The signature of the call without volatile values, or the class of a failure. */
  readonly signature: string;
  readonly count: number;
  /** Store time of the first, ms. */
  readonly at: number;
}

/** A session counts so many different ones, the latest. */
export const MAX_STALLS = 8;
/** A count begins anew so long after its first: a session may live for weeks, and be shared by many conversations. */
export const STALL_MS = 30 * 60 * 1000;

/** The session's counts after one more. */
export function addStall(stalls: readonly Stall[], signature: string, at: number): Stall[] {
  const live = stalls.filter((one) => at - one.at < STALL_MS);
  const known = live.find((one) => one.signature === signature);
  const others = live.filter((one) => one !== known);
  return [...others, { signature, count: (known?.count ?? 0) + 1, at: known?.at ?? at }].slice(-MAX_STALLS);
}

/** More ends than this make a run no stricter, so a run is told of the latest ones only. */
export const COUNTED_LOOP_ENDS = 2;

/**
 * Newest last, without this attempt; only as many as the store keeps. Tools and signatures are numbers here, the same ones for the same
 * texts: a detector compares thousands of them.
 */
export interface RunHistory {
  readonly length: number;
  at(index: number): number;
  ending(index: number): AttemptEnding;
  tool(index: number): number;
  raw(index: number): number;
  /** The raw one where nothing was changed. */
  effective(index: number): number;
  /** NaN where there is none, so that it equals nothing. */
  result(index: number): number;
  /** NaN where there is none. */
  target(index: number): number;
  /** 0 where it is not known. */
  tally(index: number): number;
}

/** What a person's no leaves as a result. */
export const DENIED_RESULT = 'denied--';

/** The store keeps so many attempts per run. */
export const HISTORY_LENGTH = 128;
/** Characters of a short digest. */
export const SIGNATURE_LENGTH = 8;
