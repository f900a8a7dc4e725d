import { expect, it } from 'vitest';
import { openEmbeddedStore } from '../../src/stores/embedded/embedded-store.ts';
import { acceptOne, claimOne, openSession, settleRequest } from '../contract/fixtures.ts';
import { temporaryFolder } from '../support/process.ts';
import { messageOf, startOwner } from './store-process.ts';

it('the store answers other processes while the main thread of its owner is blocked', async () => {
  const folder = temporaryFolder('sallyport-blocked');
  const owner = await startOwner(folder.path);
  const client = await openEmbeddedStore({ folder: folder.path, mode: 'connect' });
  const session = await openSession(client);
  const order: string[] = [];
  const blocking = messageOf(owner, 'blocking');
  const unblocked = messageOf(owner, 'unblocked').then(() => order.push('unblocked'));
  owner.send({ kind: 'block', ms: 3_000 });
  await blocking;
  const callId = await acceptOne(client, session);
  const delivery = await claimOne(client);
  expect(await client.settleCall(settleRequest(delivery))).toBe('settled');
  order.push(`settled ${callId}`);
  await unblocked;
  expect(order).toEqual([`settled ${delivery.callId}`, 'unblocked']);
  await client.close();
  await owner.stop();
  folder.remove();
});
