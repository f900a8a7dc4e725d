import type { KnownLength } from '../audit/verify-trail.ts';
import type { Store } from '../domain/ports/store.ts';

/** The lengths of the audit lanes according to the store itself. A trail with fewer records was cut short. */
export async function knownLengths(
  store: Pick<Store, 'auditLanes' | 'auditState'> | undefined,
): Promise<KnownLength[]> {
  if (store === undefined) return [];
  const known: KnownLength[] = [];
  for (const lane of store.auditLanes) {
    const { store: id, sequence, drained, waiting, surplus, alarm, gap } = await store.auditState({ lane });
    known.push({
      store: id,
      lane,
      sequence: drained,
      missing: sequence + surplus - drained - waiting,
      ...(alarm === undefined || gap !== undefined ? {} : { alarm }),
    });
  }
  return known;
}
