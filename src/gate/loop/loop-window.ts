import { HISTORY_LENGTH, type Attempt, type RunHistory, type Stall } from '../../domain/call/attempt.ts';
import { codeOf, tagCode } from '../../domain/call/history.ts';
import { DETECTORS, type Detector } from '../../domain/policy/loop-verdict.ts';
import { readBlockMark } from './loop-verdict.ts';

/** The call that is checked. `hasVolatile`: calls with the same effective signature may differ in volatile values. */
export type AskedAttempt = Pick<Attempt, 'tool' | 'raw' | 'effective' | 'target' | 'at'> & {
  readonly hasVolatile?: boolean;
};

export const OK = 0;
/** State of an attempt that failed or was refused. */
export const BAD = 1;
/** State of an attempt that is still under way. */
export const OPEN = 2;

const BY_TOOL: readonly Detector[] = ['same-failure', 'any-failure', 'unknown-tool'];

const NO_STALLS: readonly Stall[] = Object.freeze([]);

const numbers = (): Float64Array => new Float64Array(HISTORY_LENGTH);

/**
 * The attempts that count, oldest first, as numbers in arrays. Blocked attempts are not in the arrays: they did not run and prove nothing
 * about progress; separate fields count them. The process has one window, which is filled again for each question.
 */
export class LoopWindow {
  length = 0;
  readonly tool = numbers();
  readonly raw = numbers();
  /** Signatures of the arguments that ran; equal to `raw` where nothing was changed. */
  readonly effective = numbers();
  /** Result signatures. NaN if there is none, because NaN equals nothing. */
  readonly result = numbers();
  readonly at = numbers();
  readonly state = new Uint8Array(HISTORY_LENGTH);

  ownTool = 0;
  ownRaw = 0;
  ownEffective = 0;
  ownAt = 0;
  ownTarget = NaN;
  hasVolatile = false;
  /** Number of calls that wrote different content to the same target as this call. */
  sameTarget = 0;
  /** How often exactly this call, byte for byte, was made before. Includes blocked calls and calls older than the window. */
  tally = 0;
  #lastTallyAt = -Infinity;
  stalls: readonly Stall[] = [];
  /** True if the arguments of some call were changed, so that `raw` and `effective` are not the same list. */
  rewritten = false;
  /** Number of attempts in the window that made the same call. */
  same = 0;
  openSame = 0;
  /** Time of the last attempt of the same call, blocked or not. */
  lastSameAt = -Infinity;
  bad = 0;
  /** Blocked calls that count fully towards the end of the run. */
  blocked = 0;
  /** Number of blocked duplicates of open calls. */
  blockedInFlight = 0;
  blockedSame = false;
  /**
   * Per detector: number of blocked attempts that belong to the same loop as this call. They continue the loop although they did not run.
   */
  readonly blockedBy: Record<Detector, number> = Object.fromEntries(
    DETECTORS.map((detector) => [detector, 0]),
  ) as Record<Detector, number>;
  /**
   * Cycles that were blocked before. `cycleEnd` is the number of attempts in the window at that time; the last `cyclePeriod` of them are
   * the cycle.
   */
  cycles = 0;
  readonly cycleEnd = new Uint8Array(HISTORY_LENGTH);
  readonly cyclePeriod = new Uint8Array(HISTORY_LENGTH);

  read(history: RunHistory, asked: AskedAttempt, decayMs: number, stalls: readonly Stall[] = NO_STALLS): this {
    this.#reset(asked);
    this.stalls = stalls;
    const since = asked.at - decayMs;
    for (let index = 0; index < history.length; index += 1) {
      if (history.at(index) >= since) this.#add(history, index);
    }
    return this;
  }

  #reset(asked: AskedAttempt): void {
    if (this.blocked > 0) for (const detector of DETECTORS) this.blockedBy[detector] = 0;
    this.length = 0;
    this.ownTool = tagCode(asked.tool);
    this.ownRaw = codeOf(asked.raw);
    this.ownEffective = asked.effective === undefined ? this.ownRaw : codeOf(asked.effective);
    this.ownAt = asked.at;
    this.ownTarget = asked.target === undefined ? NaN : codeOf(asked.target);
    this.hasVolatile = asked.hasVolatile === true;
    this.sameTarget = 0;
    this.tally = 0;
    this.#lastTallyAt = -Infinity;
    this.rewritten = this.ownEffective !== this.ownRaw;
    this.same = 0;
    this.openSame = 0;
    this.lastSameAt = -Infinity;
    this.bad = 0;
    this.blocked = 0;
    this.blockedInFlight = 0;
    this.blockedSame = false;
    this.cycles = 0;
  }

  #add(history: RunHistory, index: number): void {
    const ending = history.ending(index);
    const raw = history.raw(index);
    const effective = history.effective(index);
    const result = history.result(index);
    const at = history.at(index);
    const isSame = raw === this.ownRaw || effective === this.ownEffective;
    if (isSame && at > this.lastSameAt) this.lastSameAt = at;
    if (raw === this.ownRaw) this.#count(history.tally(index), at);
    if (ending === 'blocked') return this.#addBlocked(result, isSame, history.tool(index) === this.ownTool);
    const isBad = ending === 'failed' || ending === 'refused';
    // Attempts that were, for example, cancelled or expired are stored without a result. They say nothing about the tool.
    if (isBad && Number.isNaN(result)) return;
    const place = this.length;
    this.tool[place] = history.tool(index);
    this.raw[place] = raw;
    this.effective[place] = effective;
    this.result[place] = result;
    this.at[place] = at;
    this.state[place] = ending === 'ok' ? OK : isBad ? BAD : OPEN;
    if (raw !== effective) this.rewritten = true;
    if (isSame) this.same += 1;
    // Open calls that differ only in volatile values may be a batch, so they do not count as duplicates: their results are not known yet.
    if (ending === 'open' && (raw === this.ownRaw || (isSame && !this.hasVolatile))) this.openSame += 1;
    if (isBad) this.bad += 1;
    else if (raw !== this.ownRaw && history.target(index) === this.ownTarget) this.sameTarget += 1;
    this.length = place + 1;
  }

  /**
   * Counts one earlier attempt of exactly this call. An attempt that has ended stores how often the call had been made by then; an open
   * attempt adds one.
   */
  #count(tally: number, at: number): void {
    this.tally = Math.max(this.tally + 1, tally);
    this.#lastTallyAt = at;
  }

  /** The tally. It is 0 if the last such call was `paceMs` or longer ago, because then this call is not a repetition. */
  tallyWithin(paceMs: number): number {
    return this.ownAt - this.#lastTallyAt < paceMs ? this.tally : 0;
  }

  #addBlocked(result: number, isSame: boolean, isOwnTool: boolean): void {
    const { detector, step, period } = readBlockMark(result);
    if (step === 'small') this.blockedInFlight += 1;
    if (step !== 'full') return;
    this.blocked += 1;
    this.blockedSame ||= isSame;
    const isRelated = detector === 'repeat' || detector === 'poll' ? isSame : !BY_TOOL.includes(detector) || isOwnTool;
    if (isRelated) this.blockedBy[detector] += 1;
    if (period === 0) return;
    this.cycleEnd[this.cycles] = this.length;
    this.cyclePeriod[this.cycles] = period;
    this.cycles += 1;
  }
}
