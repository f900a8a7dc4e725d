import { ServiceFailure } from '../service-failure.ts';
import type { Postings, ScopedStore, StoredVector } from '../storage/scoped-store.ts';
import type { Embedder } from './embedder.ts';
import { MAX_QUERY_TERMS, termsOf } from './terms.ts';
import { isOfModel, packVector, similarity } from './vector.ts';

/** Max vectors of one scope that are searched: those of the newest documents. Older documents are found by their words only. */
const SEARCHED_VECTORS = 4000;
const SEARCHED_POSTINGS = 1000;
/** Max documents that one search embeds. Vectors are made at the first search by meaning; later searches embed the rest. @internal */
export const EMBEDDED_PER_SEARCH = 256;

export const SEARCH_MODES = ['words', 'meaning', 'both'] as const;
export type SearchMode = (typeof SEARCH_MODES)[number];

export interface SearchRequest {
  readonly scope: string;
  readonly collection: string;
  readonly text: string;
  readonly by: SearchMode;
  readonly limit: number;
  readonly signal: AbortSignal;
  /** Returns the text of a document that is embedded. */
  readonly textOf: (body: string) => string;
}

/** Returns document ids with scores, best first. The modes `meaning` and `both` need an embedder. */
export async function searchDocuments(
  store: ScopedStore,
  embedder: Embedder | undefined,
  request: SearchRequest,
): Promise<Ranked[]> {
  const byWords = request.by === 'meaning' ? [] : await searchWords(store, request);
  if (request.by === 'words') return byWords;
  if (embedder === undefined) {
    throw new ServiceFailure('SERVICE_NO_MODEL', 'Search by meaning is not set up here; search by words instead.');
  }
  return mergeRanked([byWords, await searchMeaning(store, embedder, request)], request.limit);
}

async function searchWords(store: ScopedStore, { scope, collection, text, limit }: SearchRequest): Promise<Ranked[]> {
  const terms = termsOf(text, MAX_QUERY_TERMS);
  if (terms.length === 0) return [];
  return rankByWords(await store.postings(scope, collection, terms, SEARCHED_POSTINGS), limit);
}

async function searchMeaning(store: ScopedStore, embedder: Embedder, request: SearchRequest): Promise<Ranked[]> {
  const { scope, collection, text, limit, signal } = request;
  const { model } = embedder;
  const stored = await store.vectors(scope, collection, SEARCHED_VECTORS);
  const isMissing = ({ vector }: StoredVector): boolean => vector === undefined || !isOfModel(model, vector);
  const missing = stored.filter(isMissing).slice(0, EMBEDDED_PER_SEARCH);
  const documents = await store.read(
    scope,
    collection,
    missing.map(({ id }) => id),
  );
  // Embed the documents in their current version. Documents that were deleted meanwhile are left out.
  const toEmbed = documents.filter((document) => document !== undefined);
  const texts = [text, ...toEmbed.map(({ body }) => request.textOf(body))];
  const [asked, ...made] = (await embedder.embed(texts, signal)).map((vector) => packVector(model, vector));
  const fresh = toEmbed.map(({ id, version }, index) => ({ id, version, vector: made[index]! }));
  if (fresh.length > 0) await store.keepVectors(scope, collection, fresh);
  const known = [...fresh, ...stored.filter((one) => !isMissing(one))];
  return known
    .map(({ id, vector }) => ({ id, score: round(Math.max(0, similarity(asked!, vector!))) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, limit);
}

interface Ranked {
  readonly id: string;
  /** From 0 to 1: the weight of the matched part of the query. */
  readonly score: number;
}

/**
 * Ranks documents by the words that they share with the query; rare words weigh more. Documents with equal scores stay in the order of the lists,
 * newest first.
 * @internal
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

/** Merges ranked lists and returns the best documents, each once, with its best score. @internal */
export function mergeRanked(lists: readonly (readonly Ranked[])[], limit: number): Ranked[] {
  const best = new Map<string, number>();
  for (const { id, score } of lists.flat()) best.set(id, Math.max(score, best.get(id) ?? 0));
  return [...best]
    .map(([id, score]) => ({ id, score }))
    .sort((a, b) => b.score - a.score)
    .slice(0, limit);
}

function round(score: number): number {
  return Math.round(score * 10_000) / 10_000;
}
