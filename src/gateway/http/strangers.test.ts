import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import type { PlaneError } from '../../domain/errors/errors.ts';
import { newTokenText } from '../../domain/identity/token-text.ts';
import { createAuthenticator, PROOF_MS, type Authenticator, type ProofStore } from './authenticate.ts';
import type { GatewayEnv } from './gateway-env.ts';
import { limitStrangers } from './strangers.ts';

const KNOWN = { isStillGood: async (bearer: string): Promise<boolean> => bearer === 'known' };

/** An app that answers every request at once. An answer counts as under way until the test closes it. */
function startApp(authenticator: Pick<Authenticator, 'isStillGood'> = KNOWN): {
  ask(address: string, bearer?: string): Promise<{ readonly status: number; close(): void }>;
} {
  const app = new Hono<GatewayEnv>();
  app.use('*', async (context, next) => {
    context.set('address', context.req.header('x-address')!);
    await next();
  });
  app.use('*', limitStrangers({ max: 4, maxPerAddress: 2, authenticator }));
  app.get('/', (context) => context.text('page'));
  app.onError((error, context) => context.text(String((error as PlaneError).code), 503));
  return {
    async ask(address, bearer) {
      const rawHeaders = bearer === undefined ? [] : ['Authorization', `Bearer ${bearer}`];
      const incoming = { rawHeaders, headers: {} } as unknown as IncomingMessage;
      const outgoing = new EventEmitter();
      const { status } = await app.request('/', { headers: { 'x-address': address } }, { incoming, outgoing });
      return { status, close: () => void outgoing.emit('close') };
    },
  };
}

describe('requests that need no token', () => {
  it('are limited for one address, until an answer was sent', async () => {
    const app = startApp();
    const [first] = [await app.ask('10.0.0.1'), await app.ask('10.0.0.1')];
    expect((await app.ask('10.0.0.1')).status).toBe(503);
    expect((await app.ask('10.0.0.2')).status).toBe(200);
    first!.close();
    expect((await app.ask('10.0.0.1')).status).toBe(200);
  });

  it('are limited for all addresses together, and never for a token that is known', async () => {
    const app = startApp();
    for (const address of ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4']) await app.ask(address);
    expect((await app.ask('10.0.0.5')).status).toBe(503);
    expect((await app.ask('10.0.0.5', 'unknown')).status).toBe(503);
    expect((await app.ask('10.0.0.5', 'known')).status).toBe(200);
  });

  it('are limited also for a token that is being asked about, that was revoked, or whose store does not answer', async () => {
    let [now, answer] = [0, Promise.resolve<object | undefined>({ id: 't', scopes: [], expiresAt: Date.now() + 1e6 })];
    const store = { lanes: 1, proveToken: () => answer } as unknown as ProofStore;
    const authenticator = createAuthenticator(
      store,
      () => undefined,
      () => now,
    );
    const app = startApp(authenticator);
    for (const address of ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4']) await app.ask(address);
    const [good, wrong] = [newTokenText().text, newTokenText().text];
    await authenticator.prove(good);
    expect((await app.ask('10.0.0.5', good)).status).toBe(200);
    now += PROOF_MS + 1;
    expect((await app.ask('10.0.0.5', good)).status).toBe(200);
    now += PROOF_MS + 1;
    answer = Promise.reject(new Error('no store'));
    answer.catch(() => undefined);
    expect((await app.ask('10.0.0.5', good)).status).toBe(503);
    answer = Promise.resolve(undefined);
    expect((await app.ask('10.0.0.5', good)).status).toBe(503);
    answer = new Promise(() => undefined);
    void authenticator.prove(wrong);
    expect((await app.ask('10.0.0.5', wrong)).status).toBe(503);
  });
});
