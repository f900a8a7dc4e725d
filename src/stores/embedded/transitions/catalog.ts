import { EMPTY_CATALOG, type Catalog } from '../../../domain/tool/catalog.ts';
import type { ModuleDeclaration } from '../../../domain/tool/module.ts';
import type {
  WithdrawModulesRequest,
  WriteCatalogAnswer,
  WriteCatalogRequest,
} from '../../../domain/ports/catalog-store.ts';
import { recordOfWithdrawal } from '../../administrative-record.ts';
import { CATALOG_TOPIC, type Transaction } from '../transaction.ts';
import { appendAdministration } from './append-audit.ts';

interface CatalogRow {
  readonly sequence: number;
  readonly digest: string;
  readonly modules: string;
}

export function readCatalog({ database }: Transaction): Catalog {
  const row = database.get<CatalogRow>('SELECT sequence, digest, modules FROM catalog');
  return row === undefined ? EMPTY_CATALOG : { ...row, modules: JSON.parse(row.modules) as ModuleDeclaration[] };
}

/** Does not wait; the store thread runs it again when the catalog was written. */
export function watchCatalog(transaction: Transaction, { after }: { after: number }): Catalog | undefined {
  return currentSequence(transaction) > after ? readCatalog(transaction) : undefined;
}

export function writeCatalog(transaction: Transaction, request: WriteCatalogRequest): WriteCatalogAnswer {
  return replaceCatalog(transaction, request);
}

export function withdrawModules(transaction: Transaction, request: WithdrawModulesRequest): WriteCatalogAnswer {
  return replaceCatalog(transaction, request, () => appendAdministration(transaction, recordOfWithdrawal(request)));
}

/** Calls `record` only if the catalog is replaced, in the same transaction. */
function replaceCatalog(
  transaction: Transaction,
  request: WriteCatalogRequest,
  record?: () => void,
): WriteCatalogAnswer {
  const { database } = transaction;
  const found = currentSequence(transaction);
  const sequence = request.expectedSequence + 1;
  const modules = JSON.stringify(request.modules);
  if (found !== request.expectedSequence) {
    // The same writer repeats its request after a lost answer.
    const same = database.get('SELECT 1 FROM catalog WHERE sequence = ? AND modules = ?', sequence, modules);
    return same === undefined ? { kind: 'conflict', sequence: found } : { kind: 'written', sequence };
  }
  record?.();
  database.run('DELETE FROM catalog');
  database.run('INSERT INTO catalog VALUES (?, ?, ?)', sequence, request.digest, modules);
  transaction.wake(CATALOG_TOPIC);
  return { kind: 'written', sequence };
}

function currentSequence({ database }: Transaction): number {
  return database.get<{ sequence: number }>('SELECT sequence FROM catalog')?.sequence ?? 0;
}
