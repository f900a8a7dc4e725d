import { HISTORY_LENGTH, type AttemptEnding } from '../../domain/attempt.ts';
import type { RunRow } from './rows.ts';

const WRONG = 3;
/** So many attempts may lie between three wrong ones that are worth a look. */
const CLOSE = 6;

/** A run's counters, and enough of its latest attempts to tell whether another one looks like a repetition. */
export class RunMemory {
  readonly row: RunRow;
  readonly attemptsByTool: Map<string, number>;
  readonly #latest: { readonly sequence: number; readonly raw: string }[] = [];
  /** Sequences of the last three attempts that went wrong. */
  #wrong: number[] = [];

  constructor(row: RunRow, attemptsByTool: Map<string, number>) {
    this.row = row;
    this.attemptsByTool = attemptsByTool;
  }

  remember(sequence: number, raw: string): void {
    this.#latest[sequence % HISTORY_LENGTH] = { sequence, raw };
  }

  end(sequence: number, ending: AttemptEnding): void {
    if (ending !== 'ok') this.#wrong = [...this.#wrong, sequence].slice(-WRONG);
  }

  /** The same was tried at least twice before, or little of what was tried lately went well. */
  looksRepeated(sequence: number, raw: string): boolean {
    if (this.#wrong.length === WRONG && sequence - this.#wrong[0]! <= CLOSE) return true;
    let same = 0;
    for (const attempt of this.#latest) {
      if (attempt !== undefined && attempt.raw === raw && attempt.sequence < sequence) same += 1;
    }
    return same >= 2;
  }
}
