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
