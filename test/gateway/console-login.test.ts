import { readFileSync } from 'node:fs';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GatewayToken } from '../../src/domain/identity/gateway-token.ts';
import { eventually } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { launchChromium, serveForeignPage, type ForeignSite } from './chromium.ts';
import { startGatewayFixture, type GatewayFixture } from './gateway-fixture.ts';

const FOREIGN_PAGE = readFileSync(new URL('./pages/foreign.html', import.meta.url), 'utf8');

let gateway: GatewayFixture;
let chromium: { readonly browser: Browser; close(): Promise<void> };

beforeAll(async () => {
  gateway = await startGatewayFixture({ config: { gateway: { http: { rate: { failuresPerMinute: 1000 } } } } });
  chromium = await launchChromium();
});
afterAll(async () => {
  await chromium.close();
  await gateway.stop();
  failOnLeaks();
});

const newLink = async (): Promise<string> => (await gateway.folder.json('gateway', 'login-link'))['link'] as string;
const liveTokens = async (): Promise<GatewayToken[]> =>
  (await gateway.store.listTokens({ limit: 100 })).filter((token) => token.revokedAt === undefined);

/** Asks the gateway from within a page, as its own scripts would. */
const ask = (page: Page, path: string, method = 'GET', headers: Record<string, string> = {}): Promise<number> =>
  page.evaluate(
    async (given) => {
      const { path: where, ...init } = given;
      return (await fetch(where, init)).status;
    },
    { path, method, headers, ...(method === 'POST' ? { body: '{}' } : {}) },
  );

async function logIn(link?: string): Promise<{ context: BrowserContext; page: Page }> {
  const context = await chromium.browser.newContext();
  const page = await context.newPage();
  const answered = page.waitForResponse((response) => response.url().endsWith('/v1/login'));
  await page.goto(link ?? (await newLink()));
  await answered;
  return { context, page };
}

const CONSOLE_HEADERS = { 'content-type': 'application/json', 'sallyport-console': '1' };

describe('a login link', () => {
  it('gives a cookie that scripts cannot read and other sites do not get', async () => {
    const { context, page } = await logIn();
    const [cookie, ...others] = await context.cookies();
    expect(others).toEqual([]);
    expect(cookie).toMatchObject({
      name: '__Host-sallyport',
      httpOnly: true,
      secure: true,
      sameSite: 'Strict',
      path: '/',
      domain: '127.0.0.1',
    });
    expect(
      await page.evaluate('document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage)'),
    ).not.toContain('spt_');
    expect(page.url()).not.toContain('spl_');
    expect(await ask(page, '/metrics')).toBe(200);
    await context.close();
  });

  it('works once, in whichever browser comes first', async () => {
    const link = await newLink();
    const first = await logIn(link);
    const second = await logIn(link);
    expect(await ask(first.page, '/metrics')).toBe(200);
    expect(await second.context.cookies()).toEqual([]);
    expect(await ask(second.page, '/metrics')).toBe(401);
    await first.context.close();
    await second.context.close();
  });

  it('works once also when twenty use it at the same moment', async () => {
    const [, code] = (await newLink()).split('#');
    const headers = { 'sallyport-console': '1', origin: gateway.url };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => gateway.request('/v1/login', { method: 'POST', headers, json: { code } })),
    );
    expect(answers.filter((answer) => answer.status === 204)).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 401)).toHaveLength(19);
  });

  it('is no token, in none of its forms', async () => {
    const [, code = ''] = (await newLink()).split('#');
    for (const text of [code, code.replace('spl_', 'spt_')]) {
      expect((await gateway.request('/metrics', { headers: { authorization: `Bearer ${text}` } })).status).toBe(401);
      expect((await gateway.request('/metrics', { headers: { cookie: `__Host-sallyport=c~${text}` } })).status).toBe(
        401,
      );
    }
  });

  it.each([
    ['nothing', {}],
    ['both', { code: 'spl_x', token: 'spt_x' }],
    ['a number', { code: 5 }],
    ['another field', { password: 'x' }],
    ['an array', []],
  ])('is refused as %s', async (_, json) => {
    const headers = { 'sallyport-console': '1', origin: gateway.url };
    expect((await gateway.request('/v1/login', { method: 'POST', headers, json })).status).toBe(400);
  });
});

describe('logging out', () => {
  it('ends the token that was made for the login, and takes the cookie away', async () => {
    const { context, page } = await logIn();
    const [cookie] = await context.cookies();
    const id = /spt_([a-z2-7]+)_/.exec(cookie!.value)![1]!;
    expect(await ask(page, '/v1/logout', 'POST', CONSOLE_HEADERS)).toBe(204);
    expect(await context.cookies()).toEqual([]);
    expect((await liveTokens()).map((token) => token.id)).not.toContain(id);
    const again = await gateway.request('/metrics', { headers: { cookie: `__Host-sallyport=${cookie!.value}` } });
    expect(again.status).toBe(401);
    await context.close();
  });

  it('does not revoke a pasted token; revoking that token ends the login too', async () => {
    const token = await gateway.makeToken({ scopes: ['operator'] });
    const headers = { 'sallyport-console': '1', origin: gateway.url };
    const login = await gateway.request('/v1/login', { method: 'POST', headers, json: { token: token.text } });
    const cookie = login.headers.get('set-cookie')!.split(';')[0]!;
    expect((await gateway.request('/metrics', { headers: { cookie } })).status).toBe(200);
    const logout = await gateway.request('/v1/logout', { method: 'POST', headers: { ...headers, cookie }, json: {} });
    expect([logout.status, logout.headers.get('set-cookie')]).toEqual([204, expect.stringContaining('Max-Age=0')]);
    expect((await gateway.request('/metrics', { token })).status).toBe(200);
    await gateway.store.revokeToken({ id: token.id });
    await eventually(async () => (await gateway.request('/metrics', { headers: { cookie } })).status === 401, {
      what: 'the login to end',
    });
  });

  it('an agent cannot log in with its token', async () => {
    const token = await gateway.agentToken();
    const headers = { 'sallyport-console': '1', origin: gateway.url };
    const login = await gateway.request('/v1/login', { method: 'POST', headers, json: { token: token.text } });
    expect([login.status, login.headers.get('set-cookie')]).toEqual([403, null]);
  });
});

describe('a request with the cookie that changes something', () => {
  it.each([
    ['all it needs', {}, 204],
    ['no mark, as browsers before 2023 send it', { 'sec-fetch-site': undefined }, 204],
    ['no mark and no Origin', { 'sec-fetch-site': undefined, origin: undefined }, 403],
    ['no mark and a foreign Origin', { 'sec-fetch-site': undefined, origin: 'https://evil.example' }, 403],
    ['no header of the console', { 'sallyport-console': undefined }, 403],
    ['another header of the console', { 'sallyport-console': 'true' }, 403],
    ['no Origin', { origin: undefined }, 403],
    ['a foreign Origin', { origin: 'https://evil.example' }, 403],
    ['another type', { 'content-type': 'text/plain' }, 403],
    ['the mark of a cross-site request', { 'sec-fetch-site': 'cross-site' }, 403],
    ['the mark of another port', { 'sec-fetch-site': 'same-site' }, 403],
    ['the mark of an address that was typed', { 'sec-fetch-site': 'none' }, 403],
  ])('with %s', async (_, changed, status) => {
    const [, code] = (await newLink()).split('#');
    const own = { 'sallyport-console': '1', origin: gateway.url, 'sec-fetch-site': 'same-origin' };
    const login = await gateway.request('/v1/login', { method: 'POST', headers: own, json: { code } });
    const cookie = login.headers.get('set-cookie')!.split(';')[0]!;
    const wanted: Record<string, string | undefined> = { ...own, cookie, ...changed };
    const headers = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined)) as Record<
      string,
      string
    >;
    const before = await liveTokens();
    const answer = await gateway.request('/v1/logout', { method: 'POST', headers, json: {} });
    expect(answer.status).toBe(status);
    expect((await liveTokens()).length).toBe(before.length - (status === 204 ? 1 : 0));
  });
});

describe('a page of another origin, in the browser of a logged-in user', () => {
  let foreign: ForeignSite;
  let logged: { context: BrowserContext; page: Page };
  beforeAll(async () => {
    foreign = await serveForeignPage(FOREIGN_PAGE);
    logged = await logIn();
  });
  afterAll(async () => {
    await logged.context.close();
    await foreign.close();
  });

  // A page at 127.0.0.1 is on the same site as the gateway, although its port differs, so the browser sends the cookie along.
  describe.each(['localhost', '127.0.0.1'])('served by %s', (host) => {
    const openForeign = async (): Promise<Page> => {
      const page = await logged.context.newPage();
      await page.goto(`http://${host}:${foreign.port}/`);
      return page;
    };

    it.each(['/v1/logout', '/v1/login', '/v1/pause', '/mcp'])('changes nothing with %s, in any way', async (path) => {
      const page = await openForeign();
      const before = { tokens: await liveTokens(), policy: await gateway.store.readPolicy() };
      const seen: number[] = [];
      logged.context.on('response', (response) => {
        if (response.url().startsWith(`${gateway.url}${path}`)) seen.push(response.status());
      });
      await page.evaluate(`attack(${JSON.stringify(gateway.url + path)})`);
      expect({ tokens: await liveTokens(), policy: await gateway.store.readPolicy() }).toEqual(before);
      expect(seen.filter((status) => status < 400)).toEqual([]);
      expect(await ask(logged.page, '/metrics')).toBe(200);
      await page.close();
    });

    it('reads nothing', async () => {
      const page = await openForeign();
      const read = await page.evaluate(
        (target) =>
          fetch(target, { credentials: 'include' }).then(
            (response) => response.status,
            () => 'refused',
          ),
        `${gateway.url}/metrics`,
      );
      expect(read).toBe('refused');
      await page.close();
    });

    it('frames nothing', async () => {
      const page = await openForeign();
      for (const path of ['/console/', '/login', '/healthz']) {
        await page.evaluate(`showInFrame(${JSON.stringify(gateway.url + path)})`);
      }
      const framed = page.frames().slice(1);
      const shown = await Promise.all(framed.map((frame) => frame.evaluate('location.href')));
      expect(shown).toEqual(Array.from({ length: 3 }, () => 'chrome-error://chromewebdata/'));
      await page.close();
    });
  });
});
