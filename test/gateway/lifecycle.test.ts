import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { startGatewayFixture, type GatewayFixture } from './gateway-fixture.ts';
import type { MadeToken } from '../support/create-token.ts';
import { openSocket } from './raw-http.ts';

afterAll(failOnLeaks);

/** Reads an answer to its end, or until it breaks off. */
async function untilOver(response: Response): Promise<string> {
  const reader = response.body!.getReader();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text;
      text += Buffer.from(value as Uint8Array).toString('utf8');
    }
  } catch {
    return text;
  }
}

describe.each(['embedded', 'redis'] as const)('a gateway of the %s store', (store) => {
  let gateway: GatewayFixture;
  let operator: MadeToken;
  beforeAll(async () => {
    gateway = await startGatewayFixture({ store });
    operator = await gateway.makeToken({ scopes: ['operator'] });
  });
  afterAll(() => gateway.stop());

  const call = (token: MadeToken, tool: string, args: object, more: object = {}): Promise<Response> =>
    gateway.request('/v1/calls', { method: 'POST', token, json: { tool, arguments: args, ...more } });

  it('ends an event stream when its token is revoked', async () => {
    const token = await gateway.makeToken({ scopes: ['operator'] });
    const stream = await gateway.request('/v1/events?topics=calls', { token });
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, expect.stringContaining('event-stream')]);
    const over = untilOver(stream);
    await gateway.store.revokeToken({ id: token.id });
    expect(await over).toContain('retry:');
    expect((await gateway.request('/v1/events', { token })).status).toBe(401);
  });

  it('revokes the session in which a revoked token called', async () => {
    const agent = await gateway.agentToken({ subject: 'revoked' });
    expect((await call(agent, 'basic.echo', { text: 'x' })).status).toBe(200);
    const sessionsOf = async () =>
      (await gateway.store.listSessions(100)).filter((session) => session.identity.subject === 'revoked');
    expect(await sessionsOf()).toMatchObject([{ revoked: false }]);
    await gateway.store.revokeToken({ id: agent.id });
    await eventually(
      async () => {
        const answer = await call(agent, 'basic.echo', { text: 'x' });
        return answer.status === 401 && (await sessionsOf()).every((session) => session.revoked);
      },
      { what: 'the session to be revoked' },
    );
  });

  it('lets the bearer of a session act in it, as an agent, until it is revoked', async () => {
    const opener = await gateway.makeToken({ scopes: ['sessions'] });
    const opened = await gateway.request('/v1/sessions', {
      method: 'POST',
      token: opener,
      json: { subject: 'somebody', agent: 'assistant' },
    });
    const { id, bearer } = (await opened.json()) as { id: string; bearer: string };
    const session = { id, text: bearer };
    expect((await call(session, 'basic.echo', { text: 'x' })).status).toBe(200);
    expect((await gateway.request('/v1/calls', { token: session })).status).toBe(403);
    expect((await gateway.store.readSession(id as never))?.runs).toHaveLength(2);
    expect((await gateway.request(`/v1/sessions/${id}`, { method: 'DELETE', token: operator })).status).toBeLessThan(
      300,
    );
    await eventually(async () => (await call(session, 'basic.echo', { text: 'x' })).status === 401, {
      what: 'the bearer to be refused',
    });
  });

  it('answers what is under way at SIGTERM, ends streams, and takes no more', async () => {
    const agent = await gateway.agentToken();
    const file = gateway.folder.file(`slow-${store}`);
    const streamed = untilOver(await gateway.request('/v1/events', { token: operator }));
    const slow = call(agent, 'basic.slowRead', { file, line: 'x', ms: 1500 }, { waitMs: 20_000 });
    await gateway.folder.untilWritten(`slow-${store}`, 'S');
    const idle = await openSocket(gateway.port);
    const idleClosed = once(idle, 'close');
    gateway.gateway.kill('SIGTERM');
    const answer = await slow;
    expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ state: 'settled' })]);
    await streamed;
    await idleClosed;
    expect((await gateway.gateway.exited).code).toBe(0);
    await expect(gateway.request('/healthz')).rejects.toThrow('fetch failed');
    await gateway.restart();
    expect((await gateway.request('/healthz')).status).toBe(200);
  });

  it('knows tokens and logins again after kill -9, and agents find their calls', async () => {
    const agent = await gateway.agentToken();
    const link = (await gateway.folder.json('gateway', 'login-link'))['link'] as string;
    const headers = { 'sallyport-console': '1', origin: gateway.url };
    const login = await gateway.request('/v1/login', { method: 'POST', headers, json: { code: link.split('#')[1] } });
    const cookie = login.headers.get('set-cookie')!.split(';')[0]!;
    const { callId } = (await (await call(agent, 'basic.echo', { text: 'before' })).json()) as { callId: string };
    await gateway.restart('SIGKILL');
    expect((await gateway.request('/v1/me', { headers: { cookie } })).status).toBe(200);
    const found = await gateway.request(`/v1/calls/${callId}`, { token: agent });
    expect(await found.json()).toMatchObject({ callId, state: 'settled' });
    expect((await call(agent, 'basic.echo', { text: 'after' })).status).toBe(200);
  });
});

describe('one bearer', () => {
  it('has at most half of the sockets at once', async () => {
    const gateway = await startGatewayFixture({ config: { gateway: { http: { connections: 8 } } } });
    const greedy = await gateway.makeToken({ scopes: ['operator'] });
    const modest = await gateway.makeToken({ scopes: ['operator'] });
    const leave = new AbortController();
    const streams = await Promise.all(
      Array.from({ length: 5 }, () => gateway.request('/v1/events', { token: greedy, signal: leave.signal })),
    );
    expect(streams.filter((stream) => stream.status === 200)).toHaveLength(4);
    expect(streams.find((stream) => stream.status !== 200)?.status).toBe(429);
    expect((await gateway.request('/v1/me', { token: modest })).status).toBe(200);
    leave.abort();
    await gateway.stop();
  });
});
