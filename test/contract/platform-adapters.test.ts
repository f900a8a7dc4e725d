import { describe, expect, it } from 'vitest';
import type { EffectBody, EffectKey } from '../../src/domain/platform/platform-effect.ts';
import { createConsoleAdapter } from '../../src/gateway/platform/adapters/console-adapter.ts';
import { createWebhookAdapter } from '../../src/gateway/platform/adapters/webhook-adapter.ts';
import { adapterContract, type AdapterUnderTest, type PlatformAdapter } from '../../src/exports/testing.ts';
import type { Delivery } from '../../src/domain/ports/call-requests.ts';
import type { Store } from '../../src/domain/ports/store.ts';
import { decode, encode } from '../../src/base/message-pack.ts';
import { randomId } from '../../src/domain/identity/new-id.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';
import { createEmbeddedBackend } from './embedded-backend.ts';
import { holdOne, openSession, type TestSession } from './fixtures.ts';
import { CHANNEL, claimEffectsRequest, finishRequest, PLATFORM, publishRequest } from './outbound-fixtures.ts';

/** A receiver of webhooks as the page describes it: for a known key it sends nothing again and repeats its answer. */
async function webhookUnderTest(): Promise<AdapterUnderTest> {
  const receiver = await startWebhookReceiver();
  const seen = new Map<string, string>();
  let broken = false;
  receiver.answer = (response) => {
    const { message } = receiver.received.at(-1)!;
    if (broken) return void response.writeHead(500).end();
    if (message['event'] === 'platform.call') return void response.writeHead(404).end();
    const key = String(message['key']);
    if (message['kind'] === 'send') seen.set(key, (message['message'] as { text: string }).text);
    response.writeHead(200).end(JSON.stringify({ messageId: `id of ${key}` }));
  };
  const allow = [new URL(receiver.url).host];
  return {
    adapter: createWebhookAdapter('chat', { url: receiver.url, secret: 'both-sides-know-this', allow }),
    channel: 'general',
    texts: async () => [...seen.values()],
    breakPlatform: async () => void (broken = true),
    close: () => receiver.stop(),
  };
}

/** The adapter of the console. Its messages are the effects in the store, so one is delivered when the store says so. */
async function consoleUnderTest(): Promise<AdapterUnderTest> {
  const backend = await createEmbeddedBackend();
  const store = await backend.open();
  const session = await openSession(store);
  const held = new Map<string, Delivery>();
  return {
    adapter: throughStore(createConsoleAdapter(PLATFORM, store), store, session, held),
    channel: CHANNEL,
    async newKey() {
      const delivery = await holdOne(store, session);
      const { key } = publishRequest(delivery);
      held.set(key, delivery);
      return key;
    },
    async texts() {
      const found = await store.listEffects({ platform: PLATFORM, state: 'delivered', limit: 100 });
      const bodies = found.map(({ body }) => decode(body!) as EffectBody);
      return bodies.toReversed().flatMap((body) => (body.kind === 'send' ? [body.message.text] : []));
    },
    async close() {
      await store.close();
      await backend.destroy();
    },
  };
}

function throughStore(
  inner: PlatformAdapter,
  store: Store,
  session: TestSession,
  held: Map<string, Delivery>,
): PlatformAdapter {
  return {
    ...inner,
    async deliver(effect, signal) {
      const more = { kind: effect.body.kind, body: encode(effect.body) };
      await store.publishEffect(publishRequest(held.get(effect.key)!, 1, more));
      const request = claimEffectsRequest(session.lane, { claimId: randomId() });
      for (const claimed of (await store.claimEffects(request)).effects) {
        const body = decode(claimed.body!) as typeof effect.body;
        const result = await inner.deliver({ ...effect, key: claimed.key, body }, signal);
        if (result.kind !== 'delivered') {
          await store.finishEffect(finishRequest(claimed, { kind: 'failed', problem: result.problem }));
        } else {
          const { kind: _, ...answer } = result;
          await store.finishEffect(
            finishRequest(claimed, { kind: 'delivered', answer: encode(answer), keep: inner.keepsMessages === true }),
          );
        }
      }
      const ended = await untilEnded(store, effect.key);
      return ended.state === 'failed'
        ? { kind: 'refused', problem: ended.problem! }
        : { kind: 'delivered', ...(decode(ended.answer!) as { messageId?: string }) };
    },
  };
}

/** Waits until the effect has ended: another delivery loop of this test may have claimed it. */
async function untilEnded(store: Store, key: EffectKey) {
  for (;;) {
    const found = await store.readEffect(key);
    if (found?.endedAt !== undefined) return found;
    await new Promise(setImmediate);
  }
}

describe.each([
  ['webhook', webhookUnderTest],
  ['console', consoleUnderTest],
] as const)('the %s adapter', (_name, create) => {
  it.each(adapterContract(create))('$title', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});

describe('the adapter contract', () => {
  const mended = async (change: (good: AdapterUnderTest) => Partial<PlatformAdapter>): Promise<AdapterUnderTest> => {
    const good = await webhookUnderTest();
    return { ...good, adapter: { ...good.adapter, ...change(good) } };
  };
  const failing = async (create: () => Promise<AdapterUnderTest>) => {
    const failed: string[] = [];
    for (const { title, run } of adapterContract(create)) await run().catch(() => failed.push(title));
    return failed;
  };

  it('sees an adapter that sends a second time under the same key', async () => {
    const create = () =>
      mended(({ adapter }) => ({
        deliver: (effect, signal) => adapter.deliver({ ...effect, key: `0.${randomId()}/1` }, signal),
      }));
    expect(await failing(create)).toEqual(['the same key twice is one message, if it says that it deduplicates']);
  });

  it('sees an adapter that throws, one that says "delivered" without having sent, and one that changes the text', async () => {
    const throwing = await failing(() =>
      mended(({ adapter }) => ({
        async deliver(effect, signal) {
          const result = await adapter.deliver(effect, signal);
          if (result.kind !== 'delivered') throw new Error('trouble');
          return result;
        },
      })),
    );
    expect(throwing).toEqual(['trouble of the platform is answered, not thrown']);
    const silent = await failing(() => mended(() => ({ deliver: async () => ({ kind: 'delivered' }) })));
    expect(silent).toContain('a message arrives in its channel as it was sent');
    expect(silent).toContain('trouble of the platform is answered, not thrown');
  });
});
