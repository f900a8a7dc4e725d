import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failOnLeaks } from '../support/reaper.ts';
import { startGatewayFixture, type GatewayFixture } from './gateway-fixture.ts';
import type { MadeToken } from '../support/create-token.ts';
import { exchange } from './raw-http.ts';

let gateway: GatewayFixture;
let operator: MadeToken;

beforeAll(async () => {
  gateway = await startGatewayFixture();
  operator = await gateway.makeToken({ scopes: ['operator'] });
});
afterAll(async () => {
  await gateway.stop();
  failOnLeaks();
});

const ask = (lines: readonly string[], request = 'GET /metrics HTTP/1.1') =>
  exchange(gateway.port, [request, ...lines, 'Connection: close', '', ''].join('\r\n'));

describe('the guard, by Host, Origin and token', () => {
  const HOSTS = [
    { host: '127.0.0.1:PORT', right: true },
    { host: 'localhost:PORT', right: true },
    { host: '[::1]:PORT', right: true },
    { host: 'evil.example:PORT', right: false },
  ];
  const ORIGINS = [
    { origin: undefined, right: true },
    { origin: 'http://127.0.0.1:PORT', right: true },
    { origin: 'null', right: false },
    { origin: 'https://evil.example', right: false },
  ];
  const TOKENS = ['right', 'wrong', 'none'] as const;
  const cases = HOSTS.flatMap((host) =>
    ORIGINS.flatMap((origin) => TOKENS.map((token) => ({ ...host, ...origin, hostRight: host.right, token }))),
  );

  it('has 48 cases', () => {
    expect(cases).toHaveLength(48);
  });

  it.each(cases)(
    'answers Host $host, Origin $origin, token $token',
    async ({ host, origin, hostRight, right, token }) => {
      const place = (text: string): string => text.replace('PORT', String(gateway.port));
      const bearer = { right: operator.text, wrong: `${operator.text.slice(0, -1)}_`, none: undefined }[token];
      const answer = await ask([
        `Host: ${place(host)}`,
        ...(origin === undefined ? [] : [`Origin: ${place(origin)}`]),
        ...(bearer === undefined ? [] : [`Authorization: Bearer ${bearer}`]),
      ]);
      const expected = !hostRight ? 421 : !right ? 403 : token === 'right' ? 200 : 401;
      expect(answer.status).toBe(expected);
      expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    },
  );
});

describe('a path that is encoded where it needs no encoding', () => {
  it.each([
    ['/v1/me', '/v1/%6de'],
    ['/v1/me', '/%76%31/me'],
    ['/healthz', '/healt%68z'],
    ['/login', '/%6Cogin'],
    ['/metrics', '/metric%73'],
  ])('%s is served, and %s is not found', async (plain, encoded) => {
    const lines = [`Host: 127.0.0.1:${gateway.port}`, `Authorization: Bearer ${operator.text}`];
    expect((await ask(lines, `GET ${plain} HTTP/1.1`)).status).toBe(200);
    const answer = await ask(lines, `GET ${encoded} HTTP/1.1`);
    expect([answer.status, JSON.parse(answer.body)]).toMatchObject([404, { code: 'HTTP_PATH_UNKNOWN' }]);
  });

  it.each(['/v1/calls/%ff', '/v1/agents/%C3', '/v1/agents/%ED%A0%80'])(
    '%s is not found by the built gateway: its bytes are not UTF-8',
    async (path) => {
      const lines = [`Host: 127.0.0.1:${gateway.port}`, `Authorization: Bearer ${operator.text}`];
      const answer = await ask(lines, `GET ${path} HTTP/1.1`);
      expect([answer.status, JSON.parse(answer.body)]).toMatchObject([404, { code: 'HTTP_PATH_UNKNOWN' }]);
    },
  );

  it('is served where a name needs it', async () => {
    const admin = await gateway.makeToken({ scopes: ['admin', 'operator'] });
    const [name, path] = ['Ida é@home', '/v1/agents/Ida%20%C3%A9%40home'];
    const json = { selection: [{ module: '*', tools: 'all' }] };
    expect((await gateway.request(path, { method: 'PUT', token: admin, json })).status).toBe(200);
    expect(await (await gateway.request(path, { token: admin })).json()).toMatchObject({ name });
    expect((await gateway.request(path, { method: 'DELETE', token: admin })).status).toBe(200);
  });
});
