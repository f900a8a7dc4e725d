import { HISTORY_LENGTH, type AttemptEnding } from '../../domain/call/attempt.ts';
import type { RunRow } from './rows.ts';

/** After a failed attempt, this many further attempts get the run's history, so that a loop of failures is detected. */
const CHECKED_AFTER_FAILURE = 4;
/**
 * This many further attempts get the history after an attempt that ran the same as an earlier one, although it was sent in another form, or
 * that wrote to the same target. It is the length of the longest loop that is detected.
 */
const CHECKED_AFTER_REPEAT = 8;

/** A run's counters, and enough of its latest attempts to detect that the next one looks like a repetition. */
export class RunMemory {
  readonly row: RunRow;
  readonly attemptsByTool: Map<string, number>;
  readonly #latest: { readonly sequence: number; readonly raw: string; effective?: string; target?: string }[] = [];
  /** The attempts with a number up to this one look repeated, because a recent attempt failed or repeated an earlier one. */
  #wrongUntil = 0;

  constructor(row: RunRow, attemptsByTool: Map<string, number>) {
    this.row = row;
    this.attemptsByTool = attemptsByTool;
  }

  remember(sequence: number, raw: string): void {
    this.#latest[sequence % HISTORY_LENGTH] = { sequence, raw };
  }

  /**
   * Records how an attempt ended. `effective` is the signature of what ran, if that differs from what was sent: the attempt may repeat one
   * that was sent in another form. `target` is the signature of the file or record that it changed.
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

  /** True if at least two earlier attempts are the same, or if a recent attempt failed or repeated an earlier one. */
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
