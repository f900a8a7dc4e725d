/**
 * What the shipped services keep their documents in. A scope is one owner's part (a channel, a subject): nothing reads or writes
 * across scopes. A commit is one atomic step, so a killed process leaves all of it or nothing. The embedded and the Redis
 * implementation pass one contract suite.
 */
export interface ScopedStore {
  commit(scope: string, batch: Batch): Promise<CommitAnswer>;
  /** In the order asked for; absent and expired ones are undefined. */
  read(scope: string, collection: string, ids: readonly string[]): Promise<(StoredDocument | undefined)[]>;
  /** Highest order first. */
  list(scope: string, collection: string, query: ListQuery): Promise<StoredDocument[]>;
  /** Which documents have each of these words, newest first, at most `limit` per word. */
  postings(scope: string, collection: string, terms: readonly string[], limit: number): Promise<Postings>;
  /** The newest documents with their vectors. */
  vectors(scope: string, collection: string, limit: number): Promise<StoredVector[]>;
  /** Ignores documents that have another version by now. */
  keepVectors(scope: string, collection: string, vectors: readonly NewVector[]): Promise<void>;
  /** Grows with every commit of the scope. */
  scopeVersion(scope: string): Promise<number>;
  /** Milliseconds since 1970, by the store's own clock. Throws when the store cannot be used. */
  now(): Promise<number>;
  close(): Promise<void>;
}

export interface Batch {
  /** Fails with `conflict` when the scope has changed since it had this version. */
  readonly scopeVersion?: number;
  /** Each must exist, in this version if one is given. */
  readonly checks?: readonly { readonly collection: string; readonly id: string; readonly version?: number }[];
  readonly deletes?: readonly { readonly collection: string; readonly id: string }[];
  readonly puts?: readonly Put[];
  /** Afterwards the oldest go, until no more than `most` are left; expired ones go too. */
  readonly prune?: { readonly collection: string; readonly most: number };
}

export interface Put {
  readonly collection: string;
  /** Absent: a new document, named by the scope's next number. */
  readonly id?: string;
  /** Unique within the collection: `exists` when another document has it. */
  readonly key?: string;
  readonly body: string;
  /** A changed document goes to the front unless it keeps its place. */
  readonly keepOrder?: boolean;
  readonly labels?: readonly string[];
  readonly terms?: readonly string[];
  readonly ttlMs?: number;
  /** A new document is refused with `full` when there are so many. */
  readonly most?: number;
}

export type CommitAnswer =
  /** One per put, in their order. */
  | { readonly kind: 'committed'; readonly documents: readonly DocumentHead[] }
  | { readonly kind: 'exists'; readonly id: string }
  | { readonly kind: 'full' }
  | { readonly kind: 'conflict' };

export interface DocumentHead {
  readonly id: string;
  readonly version: number;
  readonly order: number;
  /** When it was made. */
  readonly at: number;
}

export interface StoredDocument extends DocumentHead {
  readonly body: string;
}

export interface ListQuery {
  readonly label?: string;
  /** Only orders below it. */
  readonly before?: number;
  readonly limit: number;
}

export interface Postings {
  /** How many documents the collection has. */
  readonly documents: number;
  /** One list of ids per word. */
  readonly lists: readonly (readonly string[])[];
}

export interface StoredVector {
  readonly id: string;
  readonly version: number;
  readonly vector: Uint8Array | undefined;
}

export interface NewVector {
  readonly id: string;
  readonly version: number;
  readonly vector: Uint8Array;
}
