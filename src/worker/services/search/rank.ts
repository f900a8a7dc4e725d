import type { Postings } from '../storage/scoped-store.ts';

export interface Ranked {
  readonly id: string;
  /** From 0 to 1: the weight of the matched part of the query. */
  readonly score: number;
}

/**
 * Ranks documents by the words that they share with the query; rare words weigh more. Documents with equal scores stay in the order of the lists,
 * newest first.
 */
export function rankByWords({ documents, lists }: Postings, limit: number): Ranked[] {
  const weights = lists.map((ids) => (ids.length === 0 ? 0 : Math.log(1 + documents / ids.length)));
  const whole = weights.reduce((sum, weight) => sum + weight, 0) || 1;
  const sums = new Map<string, number>();
  for (const [index, ids] of lists.entries()) {
    for (const id of ids) sums.set(id, (sums.get(id) ?? 0) + weights[index]!);
  }
  return [...sums]
    .map(([id, sum]) => ({ id, score: round(sum / whole) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, limit);
}

/** Merges ranked lists and returns the best documents, each once, with its best score. */
export function mergeRanked(lists: readonly (readonly Ranked[])[], limit: number): Ranked[] {
  const best = new Map<string, number>();
  for (const { id, score } of lists.flat()) best.set(id, Math.max(score, best.get(id) ?? 0));
  return [...best]
    .map(([id, score]) => ({ id, score }))
    .sort((a, b) => b.score - a.score)
    .slice(0, limit);
}

export function round(score: number): number {
  return Math.round(score * 10_000) / 10_000;
}
