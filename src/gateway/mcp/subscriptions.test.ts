import { describe, expect, it } from 'vitest';
import { addSubscription, refuseSubscriptions } from './subscriptions.ts';

const refused = { code: -32602, data: { code: 'SUBSCRIPTION_REFUSED' } };
const thrownBy = (work: () => void): unknown => {
  try {
    work();
    return undefined;
  } catch (error) {
    return error;
  }
};

describe('subscriptions of a session', () => {
  it('take no URI that is longer than one of a resource, and remember nothing of it', () => {
    const subscriptions = new Set<string>();
    addSubscription(subscriptions, `a:${'b'.repeat(8190)}`);
    expect(thrownBy(() => addSubscription(subscriptions, `a:${'b'.repeat(8191)}`))).toMatchObject(refused);
    expect(subscriptions.size).toBe(1);
  });

  it('are 256 at most; one that is there may be sent again, and one that ends makes room', () => {
    const subscriptions = new Set<string>();
    for (let at = 0; at < 256; at += 1) addSubscription(subscriptions, `a:${at}`);
    expect(thrownBy(() => addSubscription(subscriptions, 'a:more'))).toMatchObject(refused);
    addSubscription(subscriptions, 'a:0');
    subscriptions.delete('a:0');
    addSubscription(subscriptions, 'a:more');
    expect(subscriptions.size).toBe(256);
  });
});

describe('subscriptions of a stream', () => {
  const listen = (resourceSubscriptions: readonly string[]): Response | undefined =>
    refuseSubscriptions({
      jsonrpc: '2.0',
      id: 7,
      method: 'subscriptions/listen',
      params: { notifications: { resourceSubscriptions: [...resourceSubscriptions] } },
    });

  it('have the same bounds', async () => {
    expect(listen(Array.from({ length: 256 }, (_, at) => `a:${at}`))).toBeUndefined();
    for (const uris of [Array.from({ length: 257 }, (_, at) => `a:${at}`), [`a:${'b'.repeat(8191)}`]]) {
      const answer = listen(uris)!;
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ id: 7, error: refused });
    }
  });
});
