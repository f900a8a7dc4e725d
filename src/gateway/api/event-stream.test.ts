import { describe, expect, it } from 'vitest';
import { EventStream } from './event-stream.ts';

const FAR = Date.now() + 60 * 60 * 1000;

async function readAll(stream: EventStream): Promise<string> {
  return new Response(stream.body).text();
}

describe('an event stream', () => {
  it('writes an event as one line of data, for any data', async () => {
    const stream = new EventStream({ endsAt: FAR, onEnd: () => undefined });
    stream.send('resync', { reason: 'new' }, 'a.1');
    stream.send('worker', { items: [], odd: 'two\nlines\r' } as never, 'a.2');
    stream.close();
    expect(await readAll(stream)).toBe(
      'retry: 1000\n\nid: a.1\nevent: resync\ndata: {"reason":"new"}\n\nid: a.2\nevent: worker\ndata: {"items":[],"odd":"two\\nlines\\r"}\n\n',
    );
  });

  it('ends with resync when its reader does not keep up, and holds no more than its bound', async () => {
    let ended = 0;
    const stream = new EventStream({ endsAt: FAR, onEnd: () => (ended += 1), bufferedBytes: 10_000 });
    const items = [{ text: 'x'.repeat(1000) }];
    for (let number = 1; number <= 1000; number += 1) stream.send('worker', { items } as never, `a.${number}`);
    expect(ended).toBe(1);
    const text = await readAll(stream);
    expect(text.length).toBeLessThan(13_000);
    expect(text.endsWith('event: resync\ndata: {"reason":"too-slow"}\n\n')).toBe(true);
  });

  it('ends when the right to it ends, and once only', async () => {
    let ended = 0;
    const stream = new EventStream({ endsAt: Date.now() - 1, onEnd: () => (ended += 1) });
    await readAll(stream);
    stream.close();
    stream.drop();
    stream.send('resync', { reason: 'new' }, 'a.1');
    expect(ended).toBe(1);
  });

  it('shows that it lives while nothing happens', async () => {
    const stream = new EventStream({ endsAt: FAR, onEnd: () => undefined, heartbeatMs: 5 });
    const reader = stream.body.getReader();
    await reader.read();
    expect(Buffer.from((await reader.read()).value!).toString()).toBe(': still here\n\n');
    await reader.cancel();
  });
});
