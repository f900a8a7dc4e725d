import { connect, type Client } from 'sallyport/client';

/** Each way to reach a store; the page shows the bodies. */
export const WAYS: Readonly<Record<string, () => Promise<Client>>> = {
  async embedded() {
    // #region embedded
    const client = await connect({ store: 'embedded', folder: '.sallyport', mode: 'connect' });
    // #endregion
    return client;
  },

  async redis() {
    // #region redis
    const client = await connect({
      store: 'redis',
      redis: { url: 'redis://127.0.0.1:6379', patienceMs: 15_000, commandTimeoutMs: 10_000 },
    });
    // #endregion
    return client;
  },

  async admission() {
    // #region admission
    const client = await connect({
      store: 'redis',
      redis: { url: 'rediss://redis.internal:6380', tls: { caFile: '/etc/ssl/redis-ca.pem' } },
      admission: { liveCalls: 20_000, subjectBacklog: 1000 },
    });
    // #endregion
    return client;
  },
};
