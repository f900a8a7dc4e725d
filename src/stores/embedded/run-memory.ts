import { HISTORY_LENGTH, type AttemptEnding } from '../../domain/attempt.ts';
import type { RunRow } from './rows.ts';

/** So many attempts after one that went wrong are worth a look. */
const WORTH_A_LOOK = 4;
/** After one that repeats what was sent in another way: the longest circle. */
const WORTH_A_ROUND = 8;

/** A run's counters, and enough of its latest attempts to tell whether another one looks like a repetition. */
export class RunMemory {
  readonly row: RunRow;
  readonly attemptsByTool: Map<string, number>;
  readonly #latest: { readonly sequence: number; readonly raw: string; effective?: string; target?: string }[] = [];
  /** Up to this attempt, something has gone wrong lately. */
  #wrongUntil = 0;

  constructor(row: RunRow, attemptsByTool: Map<string, number>) {
    this.row = row;
    this.attemptsByTool = attemptsByTool;
  }

  remember(sequence: number, raw: string): void {
    this.#latest[sequence % HISTORY_LENGTH] = { sequence, raw };
  }

  /** `effective`: what ran was not what was sent, and may repeat something that was sent in another way. `target`: where it was written. */
  end(sequence: number, ending: AttemptEnding, effective?: string | null, target?: string | null): void {
    const repeats = this.#repeats(effective, 'effective') || this.#repeats(target, 'target');
    if (ending !== 'ok') this.#wrongUntil = Math.max(this.#wrongUntil, sequence + WORTH_A_LOOK);
    if (repeats) this.#wrongUntil = Math.max(this.#wrongUntil, sequence + WORTH_A_ROUND);
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

  /** The same was tried at least twice before, or something went wrong lately. */
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
