import { HISTORY_LENGTH, type AttemptEnding } from '../../domain/call/attempt.ts';
import type { RunRow } from './rows.ts';

/** Number of attempts after a failed one that get the run's history, so that they are checked for a loop. */
const CHECKED_AFTER_FAILURE = 4;
/**
 * Number of attempts that get the history after an attempt that ran the same as an earlier one, sent in another form. It is the length of
 * the longest loop.
 */
const CHECKED_AFTER_REPEAT = 8;

/** A run's counters, and enough of its latest attempts to detect that another one looks like a repetition. */
export class RunMemory {
  readonly row: RunRow;
  readonly attemptsByTool: Map<string, number>;
  readonly #latest: { readonly sequence: number; readonly raw: string; effective?: string; target?: string }[] = [];
  /** Attempts up to this number look repeated, because a recent attempt failed or repeated another one. */
  #wrongUntil = 0;

  constructor(row: RunRow, attemptsByTool: Map<string, number>) {
    this.row = row;
    this.attemptsByTool = attemptsByTool;
  }

  remember(sequence: number, raw: string): void {
    this.#latest[sequence % HISTORY_LENGTH] = { sequence, raw };
  }

  /**
   * Records how an attempt ended. `effective` is the signature of what ran, if that differs from what was sent: it may repeat something that was
   * sent in another form. `target` is the signature of the place that it wrote to.
   */
  end(sequence: number, ending: AttemptEnding, effective?: string | null, target?: string | null): void {
    const repeats = this.#repeats(effective, 'effective') || this.#repeats(target, 'target');
    if (ending !== 'ok') this.#wrongUntil = Math.max(this.#wrongUntil, sequence + CHECKED_AFTER_FAILURE);
    if (repeats) this.#wrongUntil = Math.max(this.#wrongUntil, sequence + CHECKED_AFTER_REPEAT);
    const attempt = this.#latest[sequence % HISTORY_LENGTH];
    if (attempt?.sequence !== sequence) return;
    if (typeof effective === 'string') attempt.effective = effective;
    if (typeof target === 'string') attempt.target = target;
  }

  #repeats(signature: string | null | undefined, what: 'effective' | 'target'): boolean {
    if (typeof signature !== 'string') return false;
    if (what === 'effective') return this.#count(signature, Infinity) > 0;
    return this.#latest.some((attempt) => attempt?.target === signature);
  }

  /** True if the same was tried at least twice before, or if a recent attempt failed or repeated another one. */
  looksRepeated(sequence: number, raw: string): boolean {
    return sequence <= this.#wrongUntil || this.#count(raw, sequence) >= 2;
  }

  #count(signature: string, before: number): number {
    let same = 0;
    for (const attempt of this.#latest) {
      if (attempt === undefined || attempt.sequence >= before) continue;
      if (attempt.raw === signature || attempt.effective === signature) same += 1;
    }
    return same;
  }
}
