import assert from 'node:assert/strict';
import type { EffectKey } from '../../domain/platform/platform-effect.ts';
import type { AdapterEffect, PlatformAdapter } from '../../domain/ports/platform-adapter.ts';
import { randomId } from '../../domain/identity/new-id.ts';

/** An adapter with its platform. A new one is created for every case. */
export interface AdapterUnderTest {
  readonly adapter: PlatformAdapter;
  readonly channel: string;
  /** Makes keys of effects. Default: random keys. */
  newKey?(): Promise<EffectKey>;
  /** Texts of the messages that a reader of the channel sees, oldest first. */
  texts(): Promise<string[]>;
  /** Makes the platform answer with errors, or not at all, from now on. Absent: these failures cannot be tested. */
  breakPlatform?(): Promise<void>;
  close(): Promise<void>;
}

export interface AdapterCase {
  readonly title: string;
  readonly run: () => Promise<void>;
}

const AT_ONCE = 10;
const MAX_MS = 10_000;
const ORIGIN = { tenant: 'acme', subject: 'ann', agent: 'helper', session: 'session' };

/**
 * What every platform adapter must do, as cases for any test runner. A case fails by throwing. Use:
 * `for (const { title, run } of adapterContract(create)) it(title, run)`.
 */
export function adapterContract(create: () => Promise<AdapterUnderTest>): readonly AdapterCase[] {
  return Object.entries(CASES).map(([title, check]) => ({
    title,
    async run() {
      const tested = await create();
      try {
        await check(new Bench(tested));
      } finally {
        await tested.adapter.close?.();
        await tested.close();
      }
    },
  }));
}

class Bench {
  readonly tested: AdapterUnderTest;

  constructor(tested: AdapterUnderTest) {
    this.tested = tested;
  }

  async effect(body: AdapterEffect['body'], given?: EffectKey): Promise<AdapterEffect> {
    const key = given ?? (await this.tested.newKey?.()) ?? (`0.${randomId()}/1` as EffectKey);
    return { key, channel: this.tested.channel, origin: ORIGIN, body, attempt: 1 };
  }

  /** Delivers an effect; fails if that takes longer than an attempt may take. */
  deliver(effect: AdapterEffect, signal = new AbortController().signal) {
    return inTime(this.tested.adapter.deliver(effect, signal));
  }

  async send(text: string, given?: EffectKey) {
    const effect = await this.effect({ kind: 'send', message: { text } }, given);
    const result = await this.deliver(effect);
    assert.equal(result.kind, 'delivered', `"${text}" was not delivered: ${JSON.stringify(result)}`);
    return { key: effect.key, messageId: result.kind === 'delivered' ? result.messageId : undefined };
  }
}

const CASES: Readonly<Record<string, (bench: Bench) => Promise<void>>> = {
  async 'a message arrives in its channel as it was sent'(bench) {
    const text = 'hello, "world" \u00e9\u{1f600}\nsecond line';
    const { messageId } = await bench.send(text);
    assert.deepEqual(await bench.tested.texts(), [text]);
    if (messageId !== undefined) assert.match(messageId, /^[^\p{Cc}]{1,256}$/u);
  },

  async 'the same text under two keys is two messages'(bench) {
    const ids = [await bench.send('hello'), await bench.send('hello')].map(({ messageId }) => messageId);
    assert.deepEqual(await bench.tested.texts(), ['hello', 'hello']);
    if (ids[0] !== undefined) assert.notEqual(ids[0], ids[1]);
  },

  async 'the same key twice is one message, if it says that it deduplicates'(bench) {
    if (!bench.tested.adapter.deduplicates) return;
    const first = await bench.send('once');
    const again = await bench.send('once', first.key);
    assert.deepEqual(await bench.tested.texts(), ['once']);
    assert.equal(again.messageId, first.messageId);
  },

  async 'messages in flight together do not mix'(bench) {
    const texts = Array.from({ length: AT_ONCE }, (_, number) => `message ${number}`);
    await Promise.all(texts.map((text) => bench.send(text)));
    assert.deepEqual((await bench.tested.texts()).sort(), texts.toSorted());
  },

  async 'an edit, a reaction and a file are delivered or refused, never thrown'(bench) {
    const { messageId } = await bench.send('before');
    const file = { name: 'a.txt', mediaType: 'text/plain', bytes: Buffer.from('hello') };
    const bodies: AdapterEffect['body'][] = [{ kind: 'file', file, text: 'a file' }];
    if (messageId !== undefined) {
      bodies.push(
        { kind: 'edit', messageId, message: { text: 'after' } },
        { kind: 'react', messageId, reaction: '+1' },
      );
    }
    for (const body of bodies) {
      const { kind } = await bench.deliver(await bench.effect(body));
      assert.ok(kind === 'delivered' || kind === 'refused', `${body.kind} ended ${kind}`);
    }
  },

  async 'a raw operation that does not exist is refused, or answered by the platform itself'(bench) {
    const { adapter, channel } = bench.tested;
    if (adapter.call === undefined) return;
    const { key } = await bench.effect({ kind: 'send', message: { text: 'for its key' } });
    const operation = { key, channel, origin: ORIGIN, operation: 'no.such.operation', arguments: {} };
    const { kind } = await inTime(adapter.call(operation, new AbortController().signal));
    assert.ok(kind === 'refused' || kind === 'answered', `it ended ${kind}`);
  },

  async 'trouble of the platform is answered, not thrown'(bench) {
    if (bench.tested.breakPlatform === undefined) return;
    const effect = await bench.effect({ kind: 'send', message: { text: 'lost' } });
    await bench.tested.breakPlatform();
    const result = await bench.deliver(effect);
    assert.ok(result.kind === 'again' || result.kind === 'refused', `it ended ${result.kind}`);
    assert.ok(result.problem.length > 0);
  },

  async 'an attempt that is called off ends'(bench) {
    const effect = await bench.effect({ kind: 'send', message: { text: 'called off' } });
    const calledOff = AbortSignal.abort(new Error('called off'));
    // The attempt may end in any way, but must not hang.
    await bench.deliver(effect, calledOff).catch((error: unknown) => assert.notEqual(error, HANGS));
  },
};

const HANGS = new Error(`an adapter must answer within ${MAX_MS} ms`);

function inTime<Result>(work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(HANGS), MAX_MS);
    void work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
