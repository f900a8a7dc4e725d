import type { Catalog } from '../domain/catalog.ts';
import type { ModuleDeclaration } from '../domain/module.ts';

/** The published catalog: data only. */
export interface CatalogStore {
  readCatalog(): Promise<Catalog>;
  /** Waits up to `waitMs` until the sequence is above `after`; undefined when it did not move. */
  watchCatalog(request: { after: number; waitMs: number }): Promise<Catalog | undefined>;
  /** Compare-and-set on the sequence. */
  writeCatalog(request: {
    expectedSequence: number;
    digest: string;
    modules: readonly ModuleDeclaration[];
  }): Promise<WriteCatalogAnswer>;
}

export type WriteCatalogAnswer =
  | { readonly kind: 'written'; readonly sequence: number }
  | { readonly kind: 'conflict'; readonly sequence: number };
