import { EMPTY_CATALOG, type Catalog } from '../../../domain/catalog.ts';
import type { ModuleDeclaration } from '../../../domain/module.ts';
import type { WriteCatalogAnswer } from '../../../ports/catalog-store.ts';
import { CATALOG_TOPIC, type Transaction } from '../transaction.ts';

interface CatalogRow {
  readonly sequence: number;
  readonly digest: string;
  readonly modules: string;
}

export function readCatalog({ database }: Transaction): Catalog {
  const row = database.get<CatalogRow>('SELECT sequence, digest, modules FROM catalog');
  return row === undefined ? EMPTY_CATALOG : { ...row, modules: JSON.parse(row.modules) as ModuleDeclaration[] };
}

/** Does not wait; the store thread asks again when the catalog was written. */
export function watchCatalog(transaction: Transaction, { after }: { after: number }): Catalog | undefined {
  return currentSequence(transaction) > after ? readCatalog(transaction) : undefined;
}

export function writeCatalog(
  transaction: Transaction,
  request: { expectedSequence: number; digest: string; modules: readonly ModuleDeclaration[] },
): WriteCatalogAnswer {
  const found = currentSequence(transaction);
  if (found !== request.expectedSequence) return { kind: 'conflict', sequence: found };
  const sequence = found + 1;
  transaction.database.run('DELETE FROM catalog');
  transaction.database.run(
    'INSERT INTO catalog VALUES (?, ?, ?)',
    sequence,
    request.digest,
    JSON.stringify(request.modules),
  );
  transaction.wake(CATALOG_TOPIC);
  return { kind: 'written', sequence };
}

function currentSequence({ database }: Transaction): number {
  return database.get<{ sequence: number }>('SELECT sequence FROM catalog')?.sequence ?? 0;
}
