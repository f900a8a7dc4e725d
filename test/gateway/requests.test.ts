import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failOnLeaks } from '../support/reaper.ts';
import { startGatewayFixture, type GatewayFixture } from './gateway-fixture.ts';
import type { MadeToken } from '../support/create-token.ts';
import { exchange, type RawAnswer } from './raw-http.ts';

let gateway: GatewayFixture;
let operator: MadeToken;
let host: string;

beforeAll(async () => {
  gateway = await startGatewayFixture({ config: { gateway: { http: { rate: { failuresPerMinute: 1000 } } } } });
  operator = await gateway.makeToken({ scopes: ['operator'] });
  host = `Host: 127.0.0.1:${gateway.port}`;
});
afterAll(async () => {
  await gateway.stop();
  failOnLeaks();
});

const bearer = (): string => `Authorization: Bearer ${operator.text}`;
const send = (...lines: string[]): Promise<RawAnswer> =>
  exchange(gateway.port, [...lines, 'Connection: close', '', ''].join('\r\n'));
const codeOf = ({ body }: RawAnswer): unknown => (JSON.parse(body) as { code?: unknown }).code;

describe('a Host or Origin that is wrong', () => {
  it.each([
    ['evil.com', 421],
    ['127.0.0.1.evil:PORT', 421],
    ['localhost:9', 421],
    ['localhost', 421],
    ['127.0.0.1:PORT.', 421],
    ['user@127.0.0.1:PORT', 421],
    ['', 400],
  ])('Host %j is answered %i', async (given, status) => {
    const answer = await send('GET /healthz HTTP/1.1', `Host: ${given.replace('PORT', String(gateway.port))}`);
    expect(answer.status).toBe(status);
  });

  it('two Host headers, none, and an absolute target are answered 400', async () => {
    expect((await send('GET /healthz HTTP/1.1', host, host)).status).toBe(400);
    expect((await send('GET /healthz HTTP/1.1')).status).toBe(400);
    expect((await send('GET /healthz HTTP/1.0')).status).toBe(400);
    expect((await send(`GET http://127.0.0.1:${gateway.port}/healthz HTTP/1.1`, host)).status).toBe(400);
  });

  it.each([
    'https://evil.example',
    'null',
    'http://localhost.evil.com',
    'http://127.0.0.1@evil',
    'HTTP://LOCALHOST:1',
    'http://localhost:1',
    'https://127.0.0.1:PORT',
    '',
  ])('Origin %j is refused before the body is read, with or without a token', async (given) => {
    const origin = `Origin: ${given.replace('PORT', String(gateway.port))}`;
    // The body is never sent, so an answer shows that the gateway did not wait for it.
    const answer = await send('POST /v1/login HTTP/1.1', host, origin, bearer(), 'Content-Length: 100');
    expect([answer.status, codeOf(answer)]).toEqual([403, 'HTTP_ORIGIN_REFUSED']);
  });

  it('a preflight is refused from foreign origins and granted nothing from its own', async () => {
    const preflight = (origin: string): Promise<RawAnswer> =>
      send('OPTIONS /v1/login HTTP/1.1', host, `Origin: ${origin}`, 'Access-Control-Request-Method: POST');
    const foreign = await preflight('https://evil.example');
    const own = await preflight(`http://127.0.0.1:${gateway.port}`);
    expect([foreign.status, own.status]).toEqual([403, 401]);
    for (const { headers } of [foreign, own]) {
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });

  it('X-Forwarded headers of a client that is no trusted proxy change nothing', async () => {
    const spoof = ['X-Forwarded-Host: evil.example', 'X-Forwarded-Proto: https', 'X-Forwarded-For: 1.2.3.4'];
    expect((await send('GET /healthz HTTP/1.1', host, ...spoof)).status).toBe(200);
    const https = `Origin: https://127.0.0.1:${gateway.port}`;
    expect((await send('GET /healthz HTTP/1.1', host, ...spoof, https)).status).toBe(403);
    expect((await send('GET /spoofed HTTP/1.1', 'Host: evil.example', ...spoof)).status).toBe(421);
    await gateway.gateway.waitForLine(/"path":"\/spoofed","status":421/);
    expect(gateway.gateway.stderr).not.toContain('1.2.3.4');
  });
});

describe('paths and methods', () => {
  it.each([
    '/nothing',
    '/healthz/',
    '//healthz',
    '/v1//calls',
    '/v1/calls/..%2fadmin',
    '/v1/../healthz',
    '/%2e%2e/healthz',
    '/healthz%00',
    '/HEALTHZ',
    '/v1/nothing',
    '/v1',
    '/console/assets/../../cli/main.js',
    '/console/assets/%2e%2e/%2e%2e/package.json',
  ])('%s is not found', async (path) => {
    const answer = await send(`GET ${path} HTTP/1.1`, host, bearer());
    expect([answer.status, codeOf(answer)]).toEqual([404, 'HTTP_PATH_UNKNOWN']);
  });

  it.each([
    ['POST', '/healthz', 'GET, HEAD'],
    ['DELETE', '/metrics', 'GET, HEAD'],
    ['TRACE', '/healthz', 'GET, HEAD'],
    ['PATCH', '/v1/login', 'POST'],
    ['GET', '/v1/login', 'POST'],
  ])('%s %s is answered 405 with what is allowed', async (method, path, allow) => {
    const answer = await send(`${method} ${path} HTTP/1.1`, host, bearer());
    expect([answer.status, answer.headers['allow']]).toEqual([405, allow]);
  });

  it('health is minimal without a token, and metrics need one', async () => {
    const health = await send('GET /healthz HTTP/1.1', host);
    expect([health.status, health.body]).toEqual([200, '{"status":"alive"}']);
    expect((await send('GET /readyz HTTP/1.1', host)).body).toBe('{"status":"ready"}');
    expect((await send('GET /metrics HTTP/1.1', host)).status).toBe(401);
  });

  it('every answer names its request and has the security headers', async () => {
    for (const path of ['/healthz', '/nothing', '/login', '/v1/me']) {
      const { headers } = await send(`GET ${path} HTTP/1.1`, host);
      expect(headers['sallyport-request']).toMatch(/^[\w-]{22}$/);
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'content-security-policy': expect.stringContaining("frame-ancestors 'none'") as string,
      });
    }
    const page = await send('GET /login HTTP/1.1', host);
    for (const part of ["default-src 'none'", "script-src 'self'", "require-trusted-types-for 'script'"]) {
      expect(page.headers['content-security-policy']).toContain(part);
    }
  });
});

it.each(['%zz', '%', 'a%2', '%ff', '%c3%28'])('a query with the broken encoding %s is answered 400', async (value) => {
  const answer = await send(`GET /v1/calls?tool=${value} HTTP/1.1`, host, bearer());
  expect([answer.status, codeOf(answer)]).toEqual([400, 'HTTP_REQUEST_INVALID']);
  const whole = await send('GET /v1/calls?tool=a%20b+c%25 HTTP/1.1', host, bearer());
  expect(whole.status).toBe(200);
});

describe('bodies', () => {
  const JSON_TYPE = 'Content-Type: application/json';
  const post = (body: string | Buffer, ...lines: string[]): Promise<RawAnswer> => {
    const head = ['POST /v1/explain HTTP/1.1', host, bearer(), 'Connection: close', ...lines];
    const length = lines.some((line) => /^(content-length|transfer)/i.test(line));
    if (!length) head.push(`Content-Length: ${Buffer.byteLength(body)}`);
    return exchange(gateway.port, Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), Buffer.from(body)]));
  };

  it.each([
    ['none', []],
    ['text/plain', ['Content-Type: text/plain']],
    ['a form', ['Content-Type: application/x-www-form-urlencoded']],
    ['multipart', ['Content-Type: multipart/form-data; boundary=x']],
    ['UTF-16', ['Content-Type: application/json; charset=utf-16']],
    ['two types', ['Content-Type: application/json, text/plain']],
    ['two headers with one type', [JSON_TYPE, JSON_TYPE]],
    ['two headers with two types', [JSON_TYPE, 'Content-Type: text/plain']],
    ['gzip', [JSON_TYPE, 'Content-Encoding: gzip']],
    ['identity', [JSON_TYPE, 'Content-Encoding: identity']],
  ])('of the type %s are answered 415', async (_, lines) => {
    expect((await post('{"code":"x"}', ...lines)).status).toBe(415);
  });

  it.each([
    ['nothing', ' '],
    ['half of an object', '{'],
    ['two documents', '{}{}'],
    ['a byte order mark', '\ufeff{}'],
    ['broken UTF-8', Buffer.from([0x7b, 0xc3, 0x28, 0x7d])],
    ['a duplicate key', '{"code":"a","code":"b"}'],
    ['__proto__', '{"__proto__":{"admin":true}}'],
    ['nested constructor', '{"code":{"constructor":{"prototype":{}}}}'],
    ['depth 67', '['.repeat(67) + ']'.repeat(67)],
    ['depth 1,000,000', '['.repeat(1_000_000)],
    ['a number that cannot be kept', '{"code":9007199254740993}'],
  ])('with %s are answered 400', async (_, body) => {
    const answer = await post(body, JSON_TYPE);
    expect([answer.status, codeOf(answer)]).toEqual([400, 'HTTP_BODY_INVALID']);
  });

  it('with too many keys or bytes are answered 413', async () => {
    const keys = JSON.stringify(Object.fromEntries(Array.from({ length: 10_065 }, (_, key) => [`k${key}`, 0])));
    expect((await post(keys, JSON_TYPE)).status).toBe(413);
    expect((await post(`"${'x'.repeat(1024 * 1024 + 64 * 1024)}"`, JSON_TYPE)).status).toBe(413);
  });

  it('of a login are small: they are read before anything is proved', async () => {
    const code = JSON.stringify({ code: 'x'.repeat(5000) });
    const lines = [JSON_TYPE, `Content-Length: ${code.length}`, 'Connection: close'];
    const text = ['POST /v1/login HTTP/1.1', host, ...lines, '', code].join('\r\n');
    const answer = await exchange(gateway.port, text);
    expect([answer.status, codeOf(answer)]).toEqual([413, 'HTTP_BODY_TOO_LARGE']);
  });

  it('that are announced as too large are answered before they are sent', async () => {
    const answer = await post('', JSON_TYPE, 'Content-Length: 10000000000');
    expect([answer.status, answer.headers['connection']]).toEqual([413, 'close']);
  });

  it('that wait to be asked for are not asked for when the request is refused', async () => {
    const lines = [JSON_TYPE, 'Expect: 100-continue', 'Content-Length: 100'];
    const foreign = await post('', ...lines, 'Origin: https://evil.example');
    expect(foreign.status).toBe(403);
  });

  it('with two lengths or ways of sending are answered 400', async () => {
    const both = ['Content-Length: 2', 'Transfer-Encoding: chunked'];
    expect((await post('{}', JSON_TYPE, ...both)).status).toBe(400);
    expect((await post('{}', JSON_TYPE, 'Content-Length: 2', 'Content-Length: 3')).status).toBe(400);
    expect((await post('FFFFFFFFFFFFFFFFF\r\n', JSON_TYPE, 'Transfer-Encoding: chunked')).status).toBe(400);
  });

  it('leave Object.prototype alone', async () => {
    await post('{"__proto__":{"polluted":1}}', JSON_TYPE);
    expect((await send('GET /healthz HTTP/1.1', host)).body).toBe('{"status":"alive"}');
  });
});

describe('headers', () => {
  it('of more than 16 KiB are answered 431, a cookie of 8 KB 401', async () => {
    const huge = await send('GET /metrics HTTP/1.1', host, `Authorization: Bearer ${'x'.repeat(100_000)}`);
    expect([huge.status, codeOf(huge)]).toEqual([431, 'HTTP_HEADERS_TOO_LARGE']);
    expect((await send('GET /metrics HTTP/1.1', host, `Cookie: __Host-sallyport=${'x'.repeat(8192)}`)).status).toBe(
      401,
    );
  });

  it('with two tokens are answered 401, whichever is right', async () => {
    expect((await send('GET /metrics HTTP/1.1', host, bearer(), 'Authorization: Bearer x')).status).toBe(401);
    expect((await send('GET /metrics HTTP/1.1', host, bearer())).status).toBe(200);
  });

  it('are all looked at, however many there are', async () => {
    const many = Array.from({ length: 300 }, (_, index) => `X-${index}: x`);
    expect((await send('GET /healthz HTTP/1.1', host, ...many, 'Origin: https://evil.example')).status).toBe(403);
    expect((await send('GET /healthz HTTP/1.1', host, ...many, host)).status).toBe(400);
  });

  it('that are no HTTP are answered 400 as a problem', async () => {
    const answer = await exchange(gateway.port, 'HELO there\r\n\r\n');
    expect([answer.status, codeOf(answer)]).toEqual([400, 'HTTP_REQUEST_INVALID']);
  });
});
