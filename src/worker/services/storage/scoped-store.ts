/**
 * The store in which the shipped services keep their documents. A scope is one owner's part (a channel, a subject): nothing reads or writes across
 * scopes. A commit is one atomic step, so a killed process leaves all of it or nothing. The embedded and the Redis implementation pass the same
 * contract suite.
 */
export interface ScopedStore {
  commit(scope: string, batch: Batch): Promise<CommitAnswer>;
  /** Returns the documents in the order of `ids`; missing and expired ones are undefined. */
  read(scope: string, collection: string, ids: readonly string[]): Promise<(StoredDocument | undefined)[]>;
  /** Returns the documents with the highest order first. */
  list(scope: string, collection: string, query: ListQuery): Promise<StoredDocument[]>;
  /** Returns the documents that contain each of these words, newest first, at most `limit` per word. */
  postings(scope: string, collection: string, terms: readonly string[], limit: number): Promise<Postings>;
  /** Returns the newest documents with their vectors. */
  vectors(scope: string, collection: string, limit: number): Promise<StoredVector[]>;
  /** Stores vectors. Ignores a document that has another version by now. */
  keepVectors(scope: string, collection: string, vectors: readonly NewVector[]): Promise<void>;
  /** Returns a number that grows with every commit to the scope. */
  scopeVersion(scope: string): Promise<number>;
  /** Milliseconds since 1970, by the store's own clock. Throws when the store cannot be used. */
  now(): Promise<number>;
  close(): Promise<void>;
}

export interface Batch {
  /** The commit fails with `conflict` when the scope no longer has this version. */
  readonly scopeVersion?: number;
  /** Documents that must exist, in this version if one is given; otherwise the commit fails with `conflict`. */
  readonly checks?: readonly { readonly collection: string; readonly id: string; readonly version?: number }[];
  readonly deletes?: readonly { readonly collection: string; readonly id: string }[];
  readonly puts?: readonly Put[];
  /**
   * After the writes the oldest documents are deleted until at most `most` are left, at most 500 per commit. Expired documents are deleted as well,
   * by the commit or by a later sweep.
   */
  readonly prune?: { readonly collection: string; readonly most: number };
}

export interface Put {
  readonly collection: string;
  /** Absent: a new document, whose id is the scope's next number. */
  readonly id?: string;
  /** Unique within the collection. If another document has this key, the commit fails with `exists`. */
  readonly key?: string;
  readonly body: string;
  /** True: a changed document keeps its order. Otherwise it moves to the front. */
  readonly keepOrder?: boolean;
  readonly labels?: readonly string[];
  readonly terms?: readonly string[];
  readonly ttlMs?: number;
  /** The commit fails with `full` if this document is new and the collection already has so many. */
  readonly most?: number;
}

export type CommitAnswer =
  /** One head for each put, in the same order. */
  | { readonly kind: 'committed'; readonly documents: readonly DocumentHead[] }
  | { readonly kind: 'exists'; readonly id: string }
  | { readonly kind: 'full' }
  | { readonly kind: 'conflict' };

export interface DocumentHead {
  readonly id: string;
  readonly version: number;
  readonly order: number;
  /** When the document was created, in milliseconds since 1970. */
  readonly at: number;
}

export interface StoredDocument extends DocumentHead {
  readonly body: string;
}

export interface ListQuery {
  readonly label?: string;
  /** Return only documents with a lower order. */
  readonly before?: number;
  readonly limit: number;
}

export interface Postings {
  /** Number of documents in the collection. */
  readonly documents: number;
  /** One list of document ids for each word. */
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
