/** Outside one to eight milliseconds, each cell is a seventh wider than the one before it, so quantiles there are exact to a seventh. */
const GROWTH = Math.log(8 / 7);

/** Counts how long runs took, in a few cells instead of one number per run. */
export class DurationCounts {
  readonly #cells = new Map<number, number>();
  #count = 0;

  add(durationMs: number): void {
    const cell = cellOf(durationMs);
    this.#cells.set(cell, (this.#cells.get(cell) ?? 0) + 1);
    this.#count += 1;
  }

  addAll(other: DurationCounts): void {
    for (const [cell, count] of other.#cells) this.#cells.set(cell, (this.#cells.get(cell) ?? 0) + count);
    this.#count += other.#count;
  }

  /** The quantiles in milliseconds. They are absent if nothing ran. */
  quantiles(): { p50?: number; p90?: number; p99?: number } {
    if (this.#count === 0) return {};
    const cells = [...this.#cells].sort(([one], [other]) => one - other);
    const at = (share: number): number => {
      let left = Math.ceil(this.#count * share);
      for (const [cell, count] of cells) {
        left -= count;
        if (left <= 0) return middleOf(cell);
      }
      return middleOf(cells.at(-1)![0]);
    };
    return { p50: at(0.5), p90: at(0.9), p99: at(0.99) };
  }
}

/** The finest step of measured durations: ten microseconds. */
const MIN_MS = 0.01;

/**
 * The number of the cell for a duration. From one to eight milliseconds there is a cell for each whole millisecond. Longer runs have cells
 * that grow by a seventh, and so do shorter runs, whose cells have negative numbers.
 */
function cellOf(durationMs: number): number {
  if (durationMs < 1) return Math.floor(Math.log(Math.max(durationMs, MIN_MS)) / GROWTH);
  if (durationMs < 8) return Math.round(durationMs);
  return 8 + Math.floor(Math.log(durationMs / 8) / GROWTH);
}

function middleOf(cell: number): number {
  if (cell < 0) return Math.round(100 * Math.exp((cell + 0.5) * GROWTH)) / 100;
  if (cell < 8) return cell;
  return Math.round(8 * Math.exp((cell - 8 + 0.5) * GROWTH));
}
