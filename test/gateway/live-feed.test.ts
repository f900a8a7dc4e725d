import { afterEach, beforeEach, expect, it } from 'vitest';
import type { SettledHistory } from '../../src/gateway/follow/settled-history.ts';
import { LiveFeed, type FeedEvent } from '../../src/gateway/follow/live-feed.ts';
import { allow, askAbout, holdOne, openSession } from '../contract/fixtures.ts';
import { openDirectStore, type DirectStore } from '../embedded/direct-store.ts';

let direct: DirectStore;
let feed: LiveFeed;
beforeEach(() => {
  direct = openDirectStore();
  const history = { isReady: true, listen: () => () => undefined } as unknown as SettledHistory;
  feed = new LiveFeed({ store: direct.store, history, log: { warn: () => undefined } }, { pollMs: 5 });
});
afterEach(() => {
  feed.close();
  direct.remove();
});

it('the questions of one subject do not hide those of another: asked and decided', async () => {
  const { store } = direct;
  const [ann, bob] = [await openSession(store, { subject: 'ann' }), await openSession(store, { subject: 'bob' })];
  const held = await holdOne(store, bob);
  for (let pending = 0; pending < 250; pending += 1) await askAbout(store, await holdOne(store, ann));
  const heard: FeedEvent[] = [];
  const waiting: (() => void)[] = [];
  const joined = feed.join(new Set(['approvals']), undefined, (event) => {
    heard.push(event);
    waiting.shift()?.();
  });
  await joined.ready;
  const next = (): Promise<void> => new Promise((resolve) => void waiting.push(resolve));
  const asking = next();
  const asked = await askAbout(store, held);
  await asking;
  const deciding = next();
  await allow(store, asked);
  await deciding;
  const { id } = asked.question;
  expect(heard).toMatchObject([
    { topic: 'approvals', approvalId: id },
    { topic: 'approvals', approvalId: id },
  ]);
});
