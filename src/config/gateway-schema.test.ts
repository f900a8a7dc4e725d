import { describe, expect, it } from 'vitest';
import { findImpossible } from './check-combinations.ts';
import { configSchema } from './config-schema.ts';

const problemsOf = (http: object): string[] =>
  findImpossible(configSchema.parse({ gateway: { http } }), () => ({ kind: 'default', where: '' }));

describe('gateway.http', () => {
  it.each(['0.0.0.0', '::', '192.168.1.5', 'box.lan', '127.0.0.1.evil'])(
    'is refused on %s, which others can reach, unless it says so',
    (host) => {
      expect(problemsOf({ host })).toEqual([expect.stringContaining('gateway.http.open: true')]);
      expect(problemsOf({ host, open: true })).toEqual([]);
      expect(problemsOf({ host, enabled: false })).toEqual([]);
    },
  );

  it.each(['127.0.0.1', '::1', 'localhost', '127.0.0.2'])('is fine on %s', (host) => {
    expect(problemsOf({ host })).toEqual([]);
  });

  it.each([
    { hosts: ['https://console.example.com'] },
    { hosts: ['console.example.com/path'] },
    { hosts: ['*.example.com'] },
    { hosts: [] },
    { origins: ['*'] },
    { origins: ['null'] },
    { origins: ['console.example.com'] },
    { origins: ['https://console.example.com/'] },
    { trustedProxies: ['proxy.example.com'] },
    { trustedProxies: ['10.0.0.0/33'] },
    { trustedProxies: ['10.0.0.0/8/8'] },
    { port: -1 },
    { connections: 0 },
  ])('does not take %j', (http) => {
    expect(configSchema.safeParse({ gateway: { http } }).success).toBe(false);
  });

  it('takes names, origins and networks', () => {
    const http = {
      hosts: ['console.example.com', 'box.lan:7411', '[fd00::1]:7411'],
      origins: ['https://console.example.com', 'http://localhost:5173'],
      trustedProxies: ['127.0.0.1', '10.0.0.0/8', 'fd00::/8'],
    };
    expect(configSchema.parse({ gateway: { http } }).gateway.http).toMatchObject(http);
  });
});
