import type { Administered } from '../identity/actor.ts';
import type { Catalog } from '../tool/catalog.ts';
import type { ModuleDeclaration } from '../tool/module.ts';

/** The published catalog: data only, no code. */
export interface CatalogStore extends CatalogWatch, CatalogPublishing, CatalogWithdrawal {}

/** Reads the catalog. */
export interface CatalogReader {
  readCatalog(): Promise<Catalog>;
}

/** Waits for a newer catalog, for workers and callers that keep a copy. */
export interface CatalogWatch {
  /** Waits up to `waitMs` until the sequence is above `after`; undefined when it did not change. */
  watchCatalog(request: { after: number; waitMs: number }): Promise<Catalog | undefined>;
}

/** Publishes modules, for workers. */
export interface CatalogPublishing extends CatalogReader {
  /** Compare-and-set on the sequence. */
  writeCatalog(request: WriteCatalogRequest): Promise<WriteCatalogAnswer>;
}

/** Withdraws modules, for operators. */
export interface CatalogWithdrawal extends CatalogReader {
  /**
   * Writes a catalog without the withdrawn modules; compare-and-set on the sequence. The audit record `catalog.withdrawn` is written in the
   * same step: if it cannot be written, the old catalog stays.
   */
  withdrawModules(request: WithdrawModulesRequest): Promise<WriteCatalogAnswer>;
}

export interface WriteCatalogRequest {
  readonly expectedSequence: number;
  readonly digest: string;
  readonly modules: readonly ModuleDeclaration[];
}

/** `digest` and `modules` describe the remaining catalog. */
export interface WithdrawModulesRequest extends WriteCatalogRequest, Administered {
  readonly withdrawn: readonly Pick<ModuleDeclaration, 'id' | 'version'>[];
}

export type WriteCatalogAnswer =
  | { readonly kind: 'written'; readonly sequence: number }
  | { readonly kind: 'conflict'; readonly sequence: number };
