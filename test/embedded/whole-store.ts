import { expect } from 'vitest';
import type { Store } from '../../src/domain/ports/store.ts';
import type { Database } from '../../src/stores/sqlite/database.ts';
import { acceptOne, claimMany, openSession, settleRequest } from '../contract/fixtures.ts';
import { readWholeAudit } from '../contract/observe.ts';

/** Expects that a new call and all queued calls can be claimed and settled. */
export async function expectToGoOn(store: Store): Promise<void> {
  const callId = await acceptOne(store, await openSession(store));
  const claimed = await claimMany(store);
  const answers = await Promise.all(claimed.map((delivery) => store.settleCall(settleRequest(delivery))));
  expect(answers).toEqual(claimed.map(() => 'settled'));
  expect((await store.readCall(callId))?.state).toBe('settled');
  await readWholeAudit(store, 0);
}

/** No call is half accepted or half settled, and the counters of the lane agree with the rows. */
export function expectWhole(database: Database): void {
  expect(database.all('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  const halves = database.all(`
    SELECT keyId, state FROM call
    WHERE (state = 'settled') <> ((outcome IS NOT NULL) + (SELECT count(*) FROM outcome WHERE outcome.seq = call.seq))
      OR (state <> 'settled') <> ((envelope IS NOT NULL) + (SELECT count(*) FROM body WHERE body.seq = call.seq))
      OR (state = 'settled') <> ((SELECT count(*) FROM auditRecord WHERE auditRecord.callId = call.keyId) = 1)
      OR (state = 'settled') <> (settledAt IS NOT NULL)
      OR (state = 'settled' AND entryId IS NOT NULL)`);
  expect(halves).toEqual([]);
  const counted = database.get(`
    SELECT auditSequence, replySequence, retainedBytes FROM lane`);
  const found = database.get(`
    SELECT (SELECT count(*) FROM auditRecord) AS auditSequence, (SELECT count(*) FROM reply) AS replySequence,
      (SELECT coalesce(sum(length(outcome)), 0) FROM outcome) + (SELECT coalesce(sum(length(outcome)), 0) FROM call)
        AS retainedBytes`);
  expect(counted).toEqual(found);
  const head = database.get('SELECT sequence, chain FROM auditLane');
  expect(head).toEqual(database.get('SELECT sequence, chain FROM auditRecord ORDER BY sequence DESC LIMIT 1'));
}
