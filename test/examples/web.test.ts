import { gzipSync, brotliCompressSync, deflateSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import web from '../../examples/modules/web/index.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { openLocalSite, type Answer, type LocalSite } from './local-site.ts';
import { refusalOf, runExample, valueOf } from './run-example.ts';

let site: LocalSite;
let other: LocalSite;
let answers: Record<string, Answer>;

const answer: Answer = (request, response) => {
  const found = answers[new URL(request.url ?? '/', 'http://x').pathname];
  if (found === undefined)
    response.writeHead(404, 'Permission Denied', { 'content-type': 'text/plain' }).end('nothing here');
  else found(request, response);
};
const page =
  (body: string | Buffer, headers: Record<string, string> = {}): Answer =>
  (_request, response) =>
    void response.writeHead(200, { 'content-type': 'text/plain', ...headers }).end(body);
const redirect =
  (status: number, location: string): Answer =>
  (_request, response) =>
    void response.writeHead(status, { location }).end('moved');

beforeEach(async () => {
  answers = {};
  [site, other] = await Promise.all([openLocalSite(answer), openLocalSite(answer)]);
});
afterEach(() => Promise.all([site.close(), other.close()]));

const run = (tool: string, path: string, args: JsonObject = {}, setup: JsonObject = {}) =>
  runExample(
    web,
    tool,
    { url: `http://${site.host}${path}`, ...args },
    { setup: { allow: [site.host, other.host], ...setup } },
  );
const fetchPage = (path: string, args: JsonObject = {}, setup: JsonObject = {}) =>
  valueOf(run('fetch', path, args, setup));

describe('web.fetch content', () => {
  test('gives the words of a page, its title and its links', async () => {
    answers['/'] = page(
      `<!doctype html><html><head><title>Tea &amp; Cake</title><style>p{}</style><script>if (a < b) evil('</p>')</script></head>
       <body><!-- hidden > text --><h1>Menu</h1><p>Green&nbsp;tea &#8364;2,<br>black <b>tea</b></p>
       <ul><li><a href="/cake?a=1&amp;b=2">Cake</a><li><a href="javascript:x()">No</a></ul>1 < 2 &bogus; &#xD800;</body></html>`,
      { 'content-type': 'text/html; charset=utf-8' },
    );
    const value = await fetchPage('/');
    expect(value).toMatchObject({
      ok: true,
      httpStatus: 200,
      mediaType: 'text/html',
      title: 'Tea & Cake',
      more: false,
    });
    expect(value['text']).toBe(
      `Menu\nGreen tea €2,\nblack tea\n- [Cake](http://${site.host}/cake?a=1&b=2)\n- No\n1 < 2 &bogus; \uFFFD`,
    );
  });

  test.each([
    ['text/plain; charset=iso-8859-1', Buffer.from('caf\xe9', 'latin1'), 'café'],
    ['text/plain; charset="no-such"', Buffer.from('café'), 'café'],
    ['text/html', Buffer.from('<meta charset="windows-1251"><p>\xe4', 'latin1'), 'д'],
    ['application/json', Buffer.from('{"error":"in the data"}'), '{"error":"in the data"}'],
    ['application/atom+xml', Buffer.from('<a/>'), '<a/>'],
    ['', Buffer.from('plain'), 'plain'],
    ['', Buffer.from([0, 1, 2]), ''],
    ['application/zip', Buffer.from('PK'), ''],
  ])('of type %j is read in its own way (%#)', async (type, body, text) => {
    answers['/'] = (_request, response) =>
      void response.writeHead(200, type === '' ? {} : { 'content-type': type }).end(body);
    expect(await fetchPage('/')).toMatchObject({ ok: true, text });
  });

  test('that is an image comes as one', async () => {
    const bytes = Buffer.from([1, 2, 3]);
    answers['/'] = page(bytes, { 'content-type': 'image/png' });
    expect(await run('fetch', '/')).toMatchObject({
      result: { content: [{ kind: 'image', mediaType: 'image/png', bytes }] },
    });
  });

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
  ] as const)(
    'compressed with %s is unpacked, and cut at the limit however small it came',
    async (encoding, compress) => {
      answers['/small'] = page(compress('words'), { 'content-encoding': encoding });
      answers['/bomb'] = page(compress(Buffer.alloc(8 * 1024 * 1024, 'x')), { 'content-encoding': encoding });
      expect(await fetchPage('/small')).toMatchObject({ text: 'words', more: false });
      const cut = await fetchPage('/bomb', { maxCharacters: 100_000 }, { maxBytes: 10_000 });
      expect(cut).toMatchObject({ text: 'x'.repeat(10_000), more: true });
    },
  );

  test('that never ends is cut at the limit', async () => {
    answers['/'] = (_request, response) => {
      // Node 26 keeps a response writable whose client has left, and calls back with an error at once.
      const more = (error?: Error | null): void => {
        if (!error && !response.destroyed) response.write('x'.repeat(10_000), more);
      };
      response.writeHead(200, { 'content-type': 'text/plain' });
      more();
    };
    expect(await fetchPage('/', {}, { maxBytes: 5000 })).toMatchObject({ text: 'x'.repeat(5000), more: true });
  });

  test('is given in parts without half characters', async () => {
    answers['/'] = page('ab🙂cd');
    expect(await fetchPage('/', { maxCharacters: 3 })).toMatchObject({ text: 'ab', more: true });
    expect(await fetchPage('/', { from: 3 })).toMatchObject({ text: 'cd', more: false });
  });

  test('of a hostile page costs no more than its length', async () => {
    const hostile = [
      '<a '.repeat(300_000),
      '<'.repeat(900_000),
      '<script>'.repeat(100_000),
      '<!--'.repeat(200_000),
      `${'&#'.repeat(400_000)}`,
      '<a href='.repeat(100_000),
    ];
    for (const [index, body] of hostile.entries()) {
      answers[`/${index}`] = page(body, { 'content-type': 'text/html' });
      expect(await fetchPage(`/${index}`)).toMatchObject({ ok: true });
    }
  });
});

describe('web.fetch answers', () => {
  test('an error status is a reported failure in our words, with the page', async () => {
    expect(await fetchPage('/none')).toMatchObject({
      ok: false,
      error: 'The server answered with HTTP status 404.',
      httpStatus: 404,
      text: 'nothing here',
    });
  });

  test('a closed port and a broken answer are failures with a code', async () => {
    answers['/'] = (_request, response) => void response.destroy();
    answers['/gzip'] = page('not gzip', { 'content-encoding': 'gzip' });
    answers['/half'] = (_request, response) => {
      response.writeHead(200, { 'content-length': '10' });
      response.write('half', () => response.destroy());
    };
    for (const path of ['/', '/gzip', '/half']) expect(await refusalOf(run('fetch', path))).toBe('failed NO_ANSWER');
    await site.close();
    expect(await refusalOf(run('fetch', '/'))).toBe('failed NO_ANSWER');
  });

  test.each(['before the headers', 'inside the body'])('an abort %s ends the call and the connection', async (when) => {
    const controller = new AbortController();
    const closed = new Promise<void>((resolve) => {
      answers['/'] = (request, response) => {
        request.socket.once('close', () => resolve());
        if (when === 'inside the body')
          response.writeHead(200).write('begin', () => setImmediate(() => controller.abort()));
        else controller.abort();
      };
    });
    const args = { url: `http://${site.host}/` };
    const ending = await runExample(web, 'fetch', args, { setup: { allow: [site.host] }, signal: controller.signal });
    expect(ending).toMatchObject({ kind: 'threw', type: 'AbortError' });
    await closed;
  });

  test.each([
    'Host',
    'connection',
    'Content-Length',
    'transfer-encoding',
    'Proxy-Authorization',
    'bad name',
    'x:y',
    '',
  ])('the header %j cannot be set', async (name) => {
    expect(await refusalOf(run('fetch', '/', { headers: { [name]: '1' } }))).toBe('invalid-arguments');
  });

  test('a header value cannot start another header', async () => {
    expect(await refusalOf(run('fetch', '/', { headers: { a: 'b\r\nc: d' } }))).toBe('invalid-arguments');
    expect(site.requests).toEqual([]);
  });
});

describe('web redirects', () => {
  test('are followed, and the last URL is returned', async () => {
    answers['/a'] = redirect(301, '/b');
    answers['/b'] = redirect(307, `http://${other.host}/c`);
    answers['/c'] = page('arrived');
    expect(await fetchPage('/a')).toMatchObject({ url: `http://${other.host}/c`, text: 'arrived' });
  });

  test.each([
    'http://169.254.169.254/latest/meta-data/',
    'http://127.1:1/',
    'http://[::1]/',
    '//0.0.0.0/',
    'file:///etc/passwd',
    'gopher://127.0.0.1/',
    'http://user@public.example/',
    'data:text/plain,x',
  ])('to %s are refused', async (location) => {
    answers['/'] = redirect(302, location);
    expect(await refusalOf(run('fetch', '/'))).toMatch(/^denied (?:ADDRESS|URL)_REFUSED$/);
  });

  test('from an allowed server to another port of the same machine are refused', async () => {
    answers['/'] = redirect(302, `http://${other.host}/`);
    expect(await refusalOf(run('fetch', '/', {}, { allow: [site.host] }))).toBe('denied ADDRESS_REFUSED');
    expect(other.requests).toEqual([]);
  });

  test('are followed five times, not six', async () => {
    for (let hop = 0; hop < 6; hop += 1) answers[`/${hop}`] = redirect(302, `/${hop + 1}`);
    answers['/6'] = page('end');
    expect(await fetchPage('/1')).toMatchObject({ text: 'end' });
    expect(await refusalOf(run('fetch', '/0'))).toBe('failed TOO_MANY_REDIRECTS');
  });

  test('keep the headers of the caller on the same site and drop them on another', async () => {
    answers['/a'] = redirect(302, '/b');
    answers['/b'] = redirect(302, `http://${other.host}/c`);
    answers['/c'] = page('end');
    await fetchPage('/a', { headers: { Authorization: 'Bearer secret', 'X-Api-Key': 'secret', Cookie: 'a=b' } });
    expect(site.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer secret', 'Bearer secret']);
    expect(JSON.stringify(other.requests[0]?.headers)).not.toMatch(/secret|a=b/);
  });
});

describe('web.send', () => {
  test('sends the body once, with its type', async () => {
    answers['/'] = page('thanks');
    expect(await valueOf(run('send', '/', { body: '{"a":1}' }))).toMatchObject({ ok: true, text: 'thanks' });
    expect(site.requests).toMatchObject([
      { method: 'POST', body: '{"a":1}', headers: { 'content-type': 'application/json' } },
    ]);
  });

  test.each([301, 302, 303])('goes on with GET and without its body after %d', async (status) => {
    answers['/'] = redirect(status, `http://${other.host}/done`);
    answers['/done'] = page('done');
    expect(await valueOf(run('send', '/', { body: 'secret' }))).toMatchObject({ text: 'done' });
    expect(other.requests).toMatchObject([{ method: 'GET', body: '' }]);
    expect(other.requests[0]?.headers['content-type']).toBeUndefined();
  });

  test.each([307, 308])('hands its body to no other site after %d', async (status) => {
    answers['/'] = redirect(status, `http://${other.host}/steal`);
    expect(await refusalOf(run('send', '/', { body: 'secret' }))).toBe('failed REDIRECT_REFUSED');
    expect(other.requests).toEqual([]);
  });

  test('sends its body again where the same site asks for it', async () => {
    answers['/'] = redirect(307, '/here');
    answers['/here'] = page('got it');
    expect(await valueOf(run('send', '/', { body: 'data', method: 'PUT' }))).toMatchObject({ text: 'got it' });
    expect(site.requests[1]).toMatchObject({ method: 'PUT', body: 'data' });
  });

  test('refuses a private address like fetch does', async () => {
    expect(await refusalOf(run('send', '/', { body: 'x' }, { allow: [] }))).toBe('denied ADDRESS_REFUSED');
    expect(site.requests).toEqual([]);
  });
});

describe('web authorization', () => {
  const told: Answer = (request, response) =>
    void response.writeHead(200, { 'content-type': 'text/plain' }).end(request.headers.authorization ?? 'none');

  test('goes only to the host of the setup, for any call, and not over a redirect', async () => {
    answers['/told'] = told;
    answers['/away'] = redirect(302, `http://${other.host}/told`);
    const setup = { authorization: { [site.host]: 'Bearer of-the-setup' } };
    const headers = { Authorization: 'Bearer of-the-model' };
    expect(await fetchPage('/told', { headers }, setup)).toMatchObject({ text: 'Bearer of-the-setup' });
    expect(await fetchPage('/away', {}, setup)).toMatchObject({ text: 'none' });
    const elsewhere = { authorization: { [other.host]: 'Bearer of-the-setup' } };
    expect(await fetchPage('/told', {}, elsewhere)).toMatchObject({ text: 'none' });
  });
});
