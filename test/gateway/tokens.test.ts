import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TOKEN_SCOPES } from '../../src/domain/identity/gateway-token.ts';
import { newTokenText } from '../../src/domain/identity/token-text.ts';
import { newToken, newSessionId } from '../../src/domain/identity/new-id.ts';
import { eventually } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { startGatewayFixture, type GatewayFixture } from './gateway-fixture.ts';
import type { MadeToken } from '../support/create-token.ts';

afterAll(failOnLeaks);

describe.each(['embedded', 'redis'] as const)('tokens at a gateway of the %s store', (store) => {
  let gateway: GatewayFixture;
  let operator: MadeToken;
  beforeAll(async () => {
    gateway = await startGatewayFixture({
      store,
      config: { gateway: { http: { rate: { failuresPerMinute: 1000, perSecond: 1, burst: 40 } } } },
    });
    operator = await gateway.makeToken({ scopes: ['operator'] });
  });
  afterAll(() => gateway.stop());

  const status = async (headers: Record<string, string>, path = '/metrics'): Promise<number> =>
    (await gateway.request(path, { headers })).status;
  const isLetIn = (given: number): boolean => given === 200;

  it('let in who has one, in exactly this form', async () => {
    const { text } = operator;
    expect(isLetIn(await status({ authorization: `Bearer ${text}` }))).toBe(true);
    expect(isLetIn(await status({ authorization: `bearer ${text}` }))).toBe(true);
    const wrong = [
      '',
      'Bearer',
      'Bearer ',
      `Basic ${Buffer.from(`x:${text}`).toString('base64')}`,
      text,
      `Bearer ${text} ${text}`,
      `Bearer ${text},${text}`,
      `Bearer ${text}x`,
      `Bearer ${text.slice(0, -1)}`,
      `Bearer ${text.toUpperCase()}`,
      `Bearer spt_${operator.id}_`,
      `Bearer ${newTokenText().text}`,
      `Bearer spt_${operator.id}_${newToken()}`,
      `Bearer sps_${newSessionId('default', 'local', 1)}~${newToken()}`,
      `Bearer sps_9${newSessionId('default', 'local', 1)}~${newToken()}`,
      'Bearer undefined',
      'Bearer null',
      `Bearer ${'x'.repeat(8000)}`,
    ];
    for (const authorization of wrong)
      expect([authorization, await status({ authorization })]).toEqual([authorization, 401]);
  });

  it('are not taken from the query, a wrong cookie, or two cookies', async () => {
    expect(await status({}, `/metrics?token=${operator.text}&access_token=${operator.text}`)).toBe(401);
    expect(await status({ cookie: `sallyport=${operator.text}` })).toBe(401);
    const cookie = `__Host-sallyport=t~${operator.text}`;
    expect(isLetIn(await status({ cookie }))).toBe(true);
    expect(await status({ cookie: `${cookie}; ${cookie}` })).toBe(401);
    expect(await status({ cookie: `__Host-sallyport=${operator.text}` })).toBe(401);
    // A valid cookie does not make up for a malformed header.
    expect(await status({ cookie, authorization: 'Bearer' })).toBe(401);
  });

  it('are requested with WWW-Authenticate, and nothing more is reported', async () => {
    const answers = await Promise.all(
      ['Bearer x', `Bearer ${newTokenText().text}`, `Bearer spt_${operator.id}_${newToken()}`].map((authorization) =>
        gateway.request('/metrics', { headers: { authorization } }),
      ),
    );
    const bodies = await Promise.all(answers.map((answer) => answer.text()));
    expect(new Set(bodies).size).toBe(1);
    expect(answers.map(({ headers }) => headers.get('www-authenticate'))).toEqual(
      Array.from({ length: 3 }, () => 'Bearer realm="sallyport"'),
    );
  });

  it.each(TOKEN_SCOPES)('with the scope %s see the metrics only as operator or admin', async (scope) => {
    const token = await gateway.makeToken({ scopes: [scope] });
    const answer = await gateway.request('/metrics', { token });
    expect(answer.status).toBe(scope === 'operator' || scope === 'admin' ? 200 : 403);
  });

  it('stop when they are revoked, and when they expire', async () => {
    const token = await gateway.makeToken({ scopes: ['operator'] });
    const short = await gateway.makeToken({ scopes: ['operator'], lifetimeMs: 500 });
    const statusOf = async (made: MadeToken): Promise<number> =>
      (await gateway.request('/metrics', { token: made })).status;
    expect(isLetIn(await statusOf(token))).toBe(true);
    await gateway.store.revokeToken({ id: token.id });
    const gone = { what: 'the token to be refused' };
    await eventually(async () => (await statusOf(token)) === 401, gone);
    await eventually(async () => (await statusOf(short)) === 401, gone);
  });

  it('of one bearer are limited, with Retry-After; others are not concerned', async () => {
    const token = await gateway.makeToken({ scopes: ['operator'] });
    const answers = await Promise.all(Array.from({ length: 60 }, () => gateway.request('/metrics', { token })));
    const limited = answers.filter((answer) => answer.status === 429);
    expect(limited.length).toBeGreaterThan(0);
    expect(Number(limited[0]!.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await limited[0]!.json()).toMatchObject({
      code: 'RATE_LIMITED',
      retryAfterMs: expect.any(Number) as number,
    });
    const other = await gateway.makeToken({ scopes: ['operator'] });
    expect(isLetIn((await gateway.request('/metrics', { token: other })).status)).toBe(true);
  });

  it('are named in the log by their id', async () => {
    const token = await gateway.makeToken({ scopes: ['operator'] });
    await gateway.request('/v1/me', { token });
    const line = await gateway.gateway.waitForLine(new RegExp(`"tokenId":"${token.id}"`));
    expect(JSON.parse(line)).toMatchObject({ path: '/v1/me', status: 200, via: 'token' });
  });

  it('never reach the log, wherever they are put', async () => {
    await gateway.request(`/metrics?token=${operator.text}`);
    await gateway.request(`/${operator.text}/x`, { token: operator });
    await gateway.request('/nothing-more?password=hunter2', { token: operator });
    await gateway.gateway.waitForLine(/"path":"\/nothing-more"/);
    const secret = operator.text.split('_').slice(2).join('_');
    expect(gateway.gateway.stderr).toContain('"path":"/***/x"');
    expect(gateway.gateway.stderr).not.toContain(secret);
    expect(gateway.gateway.stderr).not.toContain('hunter2');
  });
});

describe('many wrong tokens from one address', () => {
  let gateway: GatewayFixture;
  beforeAll(async () => {
    gateway = await startGatewayFixture({ config: { gateway: { http: { rate: { failuresPerMinute: 1 } } } } });
  });
  afterAll(() => gateway.stop());

  it('are answered 429 with Retry-After, and do not lock out who was let in before', async () => {
    const operator = await gateway.makeToken({ scopes: ['operator'] });
    const tries = async (): Promise<number[]> => {
      const answers = await Promise.all(
        Array.from({ length: 20 }, () =>
          gateway.request('/metrics', { headers: { authorization: `Bearer ${newTokenText().text}` } }),
        ),
      );
      return answers.map((answer) => answer.status);
    };
    expect((await gateway.request('/metrics', { token: operator })).status).not.toBe(401);
    expect((await tries()).filter((status) => status !== 429).length).toBeLessThanOrEqual(2);
    const refused = await gateway.request('/metrics', { headers: { authorization: 'Bearer x' } });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await tries()).toContain(429);
    expect((await gateway.request('/metrics', { token: operator })).status).toBe(200);
  });

  it('a new token is let in however often it comes at once', async () => {
    const lax = await startGatewayFixture({ config: { gateway: { http: { rate: { failuresPerMinute: 2 } } } } });
    const token = await lax.makeToken({ scopes: ['operator'] });
    const answers = await Promise.all(Array.from({ length: 50 }, () => lax.request('/metrics', { token })));
    await lax.stop();
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
  });

  it('logins too: 1,000 tries end in 429, for any codes and tokens', async () => {
    const headers = { 'sallyport-console': '1', origin: gateway.url };
    const statuses: number[] = [];
    for (let tried = 0; tried < 1000; tried += 50) {
      const batch = await Promise.all(
        Array.from({ length: 50 }, () =>
          gateway.request('/v1/login', { method: 'POST', headers, json: { code: `spl_<b>\u0000${tried}` } }),
        ),
      );
      statuses.push(...batch.map((answer) => answer.status));
    }
    // One try is allowed at first, and one more if the tries take longer than a minute.
    expect(statuses.filter((status) => status !== 429).length).toBeLessThanOrEqual(2);
  });
});
