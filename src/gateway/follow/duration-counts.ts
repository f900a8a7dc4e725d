/** Outside one to eight milliseconds, each cell is a seventh wider than the one before it, so quantiles there are exact to a seventh. */
const GROWTH = Math.log(8 / 7);

/**
 * Counts how long runs took, in a few cells instead of one number per run. Each cell keeps its longest run. A quantile is the longest run of
 * its cell: a duration that was measured, within which that share of the runs really ended.
 */
export class DurationCounts {
  readonly #cells = new Map<number, number>();
  readonly #longest = new Map<number, number>();
  #count = 0;

  add(durationMs: number): void {
    this.#addTo(cellOf(durationMs), 1, durationMs);
  }

  addAll(other: DurationCounts): void {
    for (const [cell, count] of other.#cells) this.#addTo(cell, count, other.#longest.get(cell)!);
  }

  #addTo(cell: number, count: number, longestMs: number): void {
    this.#cells.set(cell, (this.#cells.get(cell) ?? 0) + count);
    this.#longest.set(cell, Math.max(this.#longest.get(cell) ?? 0, longestMs));
    this.#count += count;
  }

  /** The quantiles in milliseconds. They are absent if nothing ran. */
  quantiles(): { p50?: number; p90?: number; p99?: number } {
    if (this.#count === 0) return {};
    const cells = [...this.#cells].sort(([one], [other]) => one - other);
    const at = (share: number): number => {
      let left = Math.ceil(this.#count * share);
      const found = cells.find(([, count]) => (left -= count) <= 0) ?? cells.at(-1)!;
      return roundToStep(this.#longest.get(found[0])!);
    };
    return { p50: at(0.5), p90: at(0.9), p99: at(0.99) };
  }
}

/** The finest step of measured durations: ten microseconds. `roundToStep` uses it too. */
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

/** Removes the rounding error of a computed duration, such as 0.30000000000000004. */
function roundToStep(durationMs: number): number {
  return Math.round(durationMs * 100) / 100;
}
