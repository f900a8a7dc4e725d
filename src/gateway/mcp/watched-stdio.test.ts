import { expect, it } from 'vitest';
import { WatchedStdio } from './watched-stdio.ts';

it('a request on standard input that is cancelled does not wait for its answer to be written', async () => {
  const [wire, client] = [new WatchedStdio(() => undefined), new AbortController()];
  const sent = wire.sent(1, client.signal);
  client.abort();
  expect(await sent).toBe('closed');
});
