import { ServiceFailure } from '../service-failure.ts';
import type { Put, ScopedStore, StoredDocument } from './scoped-store.ts';

const MAX_TRIES = 20;

/** Reads, changes and writes one document. Retries when another writer was faster. Returns undefined if the document does not exist. */
export async function changeDocument(
  store: ScopedStore,
  scope: string,
  { collection, id }: { readonly collection: string; readonly id: string },
  change: (document: StoredDocument) => Omit<Put, 'collection' | 'id'>,
): Promise<StoredDocument | undefined> {
  for (let attempt = 0; attempt < MAX_TRIES; attempt += 1) {
    const [before] = await store.read(scope, collection, [id]);
    if (before === undefined) return undefined;
    const put = { ...change(before), collection, id };
    const answer = await store.commit(scope, { checks: [{ collection, id, version: before.version }], puts: [put] });
    if (answer.kind === 'committed') return { ...answer.documents[0]!, body: put.body };
  }
  throw busy();
}

/** The error after all retries: too many writers change the same document at the same time. */
export function busy(): ServiceFailure {
  return new ServiceFailure('SERVICE_BUSY', 'It was changed by others at the same time; try again.');
}
