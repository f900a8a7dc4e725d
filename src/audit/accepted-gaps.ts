import type { ForeignStatement, GapStatement } from '../domain/audit/audit-record.ts';
import { isInLane } from './same-lane.ts';

interface Place {
  readonly store: string;
  readonly lane: number;
}

/**
 * Follows accepted gaps from `sequence`, the last record before the missing ones. Returns the sequence just before `found` if the gaps
 * cover exactly the records between the two; otherwise returns `sequence` unchanged, and the caller reports `found` as out of place.
 */
export function skipAcceptedGaps(sequence: number, found: number, gaps: readonly GapStatement[]): number {
  let reach = sequence;
  for (;;) {
    const next = gaps.find(({ from, to }) => from === reach + 1 && to < found);
    if (next === undefined) return reach + 1 === found ? reach : sequence;
    reach = next.to;
  }
}

/** The first lane that has counted records which are neither in the sink nor waiting for the drain; undefined if there is none. */
export function findLost(
  known: readonly (Place & { readonly sequence: number; readonly missing?: number })[],
  gaps: readonly GapStatement[],
): (Place & { readonly sequence: number; readonly what: string }) | undefined {
  for (const place of known) {
    // Gaps that an operator has accepted and that the drain has not yet skipped.
    const coming = gaps.filter(isInLane(place)).filter(({ from }) => from > place.sequence);
    const accepted = coming.reduce((sum, { from, to }) => sum + to - from + 1, 0);
    const missing = (place.missing ?? 0) - accepted;
    if (missing <= 0) continue;
    const lost =
      missing === 1 ? '1 record that the lane has counted is' : `${missing} records that the lane has counted are`;
    const what = `${lost} neither in the trail nor on the way to it`;
    return { store: place.store, lane: place.lane, sequence: place.sequence + 1, what };
  }
  return undefined;
}

/** Removes duplicates. A drain that was killed before it cleared the lane adds the same statement again. */
export function distinct(statements: readonly ForeignStatement[]): ForeignStatement[] {
  const nameOf = ({ store, lane, positions, digest }: ForeignStatement) => `${store} ${lane} ${positions[0]} ${digest}`;
  return [...new Map(statements.map((each) => [nameOf(each), each])).values()];
}
