import type { AuditHead, ChainedRecord } from '../domain/audit/audit-record.ts';
import type { AuditTrail } from '../domain/ports/audit-store.ts';
import { parseRecord } from '../domain/audit/record-bytes.ts';

const AT_ONCE = 500;

/** Per lane, the sequence of the last record that a reader has read. */
export type Places = Map<string, number>;

const placeOf = ({ store, lane }: Pick<AuditHead, 'store' | 'lane'>): string => `${store} ${lane}`;

/** The places at the current end of the trail. */
export async function endOfTrail(trail: AuditTrail): Promise<Places> {
  return new Map((await trail.auditHeads()).map((head) => [placeOf(head), head.sequence]));
}

/** All records after these places, lane by lane, each lane in its order. `places` is updated with each record. */
export async function* walkTrail(trail: AuditTrail, places: Places = new Map()): AsyncGenerator<ChainedRecord> {
  for (const { store, lane, sequence } of await trail.auditHeads()) {
    const place = placeOf({ store, lane });
    while ((places.get(place) ?? 0) < sequence) {
      const page = await trail.readTrail({ store, lane, fromSequence: (places.get(place) ?? 0) + 1, limit: AT_ONCE });
      for (const chained of page) {
        places.set(place, parseRecord(chained.text)?.sequence ?? (places.get(place) ?? 0) + 1);
        yield chained;
      }
      if (page.length === 0) break;
    }
  }
}
