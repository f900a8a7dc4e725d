import { HISTORY_LENGTH, type AttemptEnding } from '../../domain/attempt.ts';
import type { RunRow } from './rows.ts';

/** So many attempts after one that went wrong are worth a look. */
const WORTH_A_LOOK = 4;

/** A run's counters, and enough of its latest attempts to tell whether another one looks like a repetition. */
export class RunMemory {
  readonly row: RunRow;
  readonly attemptsByTool: Map<string, number>;
  readonly #latest: { readonly sequence: number; readonly raw: string; effective?: string }[] = [];
  /** Up to this attempt, something has gone wrong lately. */
  #wrongUntil = 0;

  constructor(row: RunRow, attemptsByTool: Map<string, number>) {
    this.row = row;
    this.attemptsByTool = attemptsByTool;
  }

  remember(sequence: number, raw: string): void {
    this.#latest[sequence % HISTORY_LENGTH] = { sequence, raw };
  }

  /** `effective`: what ran was not what was sent, and may repeat something that was sent in another way. */
  end(sequence: number, ending: AttemptEnding, effective: string | null): void {
    const repeats = effective !== null && this.#count(effective, Infinity) > 0;
    if (ending !== 'ok' || repeats) this.#wrongUntil = Math.max(this.#wrongUntil, sequence + WORTH_A_LOOK);
    const attempt = this.#latest[sequence % HISTORY_LENGTH];
    if (effective !== null && attempt?.sequence === sequence) attempt.effective = effective;
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
