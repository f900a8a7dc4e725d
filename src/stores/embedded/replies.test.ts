import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { acceptRequest, holdOne, newWaiter, openSession, settleRequest } from '../../../test/contract/fixtures.ts';
import { sameBytes } from '../../../test/contract/observe.ts';
import { openDirectStore, type DirectStore } from '../../../test/embedded/direct-store.ts';
import { temporaryFolder, type TemporaryFolder } from '../../../test/support/process.ts';
import type { CallerId } from '../../domain/identity/ids.ts';
import type { Store } from '../../domain/ports/store.ts';
import { newCallerId } from '../../domain/identity/new-id.ts';

let folder: TemporaryFolder;
let direct: DirectStore;
const open = (): DirectStore => openDirectStore({ file: join(folder.path, 'store.sqlite') });
beforeEach(() => {
  folder = temporaryFolder();
  direct = open();
});
afterEach(() => {
  direct.remove();
  folder.remove();
});

function reopen(): void {
  direct.remove();
  direct = open();
}

async function settleFor(store: Store, callerId: CallerId) {
  const waiter = newWaiter({ callerId });
  const request = settleRequest(await holdOne(store, await openSession(store), { waiter }));
  await store.settleCall(request);
  return { correlationId: waiter.correlationId, outcome: request.outcome, callId: request.callId };
}

const take = (callerId: CallerId, acknowledged: string[] = []) =>
  direct.store.takeReplies({ lane: 0, callerId, acknowledged, waitMs: 0 });

it('replies that were not read are there after a restart, and name the call that has the outcome', async () => {
  const callerId = newCallerId();
  const { correlationId, outcome, callId } = await settleFor(direct.store, callerId);
  reopen();
  const [reply, ...others] = await take(callerId);
  expect(others).toEqual([]);
  expect(reply!.items).toEqual([{ kind: 'settled-by-reference', correlationId }]);
  expect(await direct.store.readCall(callId)).toMatchObject({ outcome: sameBytes(outcome) });
});

it('replies that were acknowledged do not come back with a restart, and those of others do', async () => {
  const [reads, waits] = [newCallerId(), newCallerId()];
  await settleFor(direct.store, reads);
  const between = await settleFor(direct.store, waits);
  await settleFor(direct.store, reads);
  const taken = await take(reads);
  expect(taken).toHaveLength(2);
  expect(
    await take(
      reads,
      taken.map(({ replyId }) => replyId),
    ),
  ).toEqual([]);
  reopen();
  expect(await take(reads)).toEqual([]);
  expect((await take(waits)).flatMap(({ items }) => items)).toMatchObject([{ correlationId: between.correlationId }]);
});

it('an acknowledged reply is removed, in any order, and the others stay', async () => {
  const callerId = newCallerId();
  for (let count = 0; count < 3; count += 1) await settleFor(direct.store, callerId);
  const [first, second, third] = await take(callerId);
  expect(await take(callerId, [second!.replyId, 'none'])).toEqual([first, third]);
  reopen();
  expect((await take(callerId)).map(({ replyId }) => replyId)).toEqual([first!.replyId, third!.replyId]);
});

it('a reply whose transaction was undone and carried out again is given once', async () => {
  const callerId = newCallerId();
  const session = await openSession(direct.store);
  const delivery = await holdOne(direct.store, session, { waiter: newWaiter({ callerId }) });
  const { page_count: pages } = direct.database.get<{ page_count: number }>('PRAGMA page_count')!;
  direct.database.execute(`PRAGMA max_page_count = ${pages + 8}`);
  const large = acceptRequest(session, { envelope: new Uint8Array(200_000) });
  const [settled, refused] = await Promise.allSettled([
    direct.store.settleCall(settleRequest(delivery)),
    direct.store.acceptCall(large),
  ]);
  expect(settled).toMatchObject({ status: 'fulfilled', value: 'settled' });
  expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'STORE_FULL' } });
  expect(await take(callerId)).toHaveLength(1);
});

it('attempts of a run are counted on after a restart', async () => {
  const session = await openSession(direct.store);
  const sequences: number[] = [];
  for (let count = 0; count < 3; count += 1) {
    const { runState } = await holdOne(direct.store, session);
    sequences.push(runState.sequence);
    reopen();
  }
  expect(sequences).toEqual([1, 2, 3]);
});
