import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Address, WebRules } from '../../src/base/http/check-target.ts';
import { fetchGuarded as guardedRequest } from '../../examples/modules/web/fetch-guarded.ts';
import web from '../../examples/modules/web/index.ts';
import { isPublicAddress } from '../../src/base/http/public-address.ts';
import { openLocalSite, type LocalSite } from './local-site.ts';
import { refusalOf, runExample } from './run-example.ts';

let site: LocalSite;
beforeEach(async () => {
  site = await openLocalSite((_request, response) => response.end('CANARY'));
});
afterEach(() => site.close());

/** PORT is where a server listens on 127.0.0.1 that must never be asked. */
const FORMS = [
  'http://127.0.0.1:PORT/',
  'http://127.1:PORT/',
  'http://127.0.1:PORT/',
  'http://127.0.0.1.:PORT/',
  'http://2130706433:PORT/',
  'http://0x7f000001:PORT/',
  'http://0x7f.1:PORT/',
  'http://0x7f.0x0.0x0.0x1:PORT/',
  'http://0177.0.0.1:PORT/',
  'http://017700000001:PORT/',
  'http://0177.0x0.0.1:PORT/',
  'http://127.0.0.2:PORT/',
  'http://127.255.255.254:PORT/',
  'http://①②⑦.0.0.1:PORT/',
  'http://１２７.０.０.１:PORT/',
  'http://127。0。0。1:PORT/',
  'http://%31%32%37.0.0.1:PORT/',
  'http:127.0.0.1:PORT/',
  'http:/127.0.0.1:PORT/',
  'http:\\\\127.0.0.1:PORT\\',
  ' http://127.0.0.1:PORT/',
  'ht\ntp://127.0.0.1:PORT/',
  'HTTP://127.0.0.1:PORT/',
  'http://0.0.0.0:PORT/',
  'http://0:PORT/',
  'http://0x0:PORT/',
  'http://0.0.0.1:PORT/',
  'http://[::]:PORT/',
  'http://[::1]:PORT/',
  'http://[0:0:0:0:0:0:0:1]:PORT/',
  'http://[::ffff:127.0.0.1]:PORT/',
  'http://[::ffff:7f00:1]:PORT/',
  'http://[::ffff:0:127.0.0.1]:PORT/',
  'http://[::127.0.0.1]:PORT/',
  'http://[::ffff:169.254.169.254]/latest/meta-data/',
  'http://[64:ff9b::7f00:1]:PORT/',
  'http://[64:ff9b:1::a9fe:a9fe]/',
  'http://[2002:7f00:1::]:PORT/',
  'http://[2002:a9fe:a9fe::]/',
  'http://[2001:0:7f00:1::1]/',
  'http://[2001:db8::1]/',
  'http://[fc00::1]/',
  'http://[fd00:ec2::254]/latest/meta-data/',
  'http://[fe80::1]/',
  'http://[fec0::1]/',
  'http://[ff02::1]/',
  'http://[100::1]/',
  'http://10.0.0.1/',
  'http://100.64.0.1/',
  'http://100.100.100.200/latest/meta-data/',
  'http://168.63.129.16/',
  'http://169.254.169.254/latest/meta-data/',
  'http://2852039166/latest/meta-data/',
  'http://172.16.0.1/',
  'http://172.31.255.255/',
  'http://192.0.0.192/',
  'http://192.0.2.1/',
  'http://192.168.1.1/',
  'http://198.18.0.1/',
  'http://198.51.100.1/',
  'http://203.0.113.1/',
  'http://224.0.0.1/',
  'http://240.0.0.1/',
  'http://255.255.255.255/',
  'http://public.example@127.0.0.1:PORT/',
  'http://public.example:80@127.0.0.1:PORT/',
  'http://127.0.0.1:PORT\\@public.example/',
  'http://127.0.0.1:PORT#@public.example/',
  'http://:@127.0.0.1:PORT/',
  'https://127.0.0.1:PORT/',
  'ftp://127.0.0.1:PORT/',
  'file:///etc/passwd',
  'gopher://127.0.0.1:PORT/_x',
  'data:text/plain,hello',
  'ws://127.0.0.1:PORT/',
  'javascript:alert(1)',
  'blob:http://127.0.0.1:PORT/x',
];

describe('web.fetch', () => {
  test.each(FORMS)('refuses %s', async (form) => {
    const ending = runExample(web, 'fetch', { url: form.replace('PORT', String(site.port)) });
    expect(await refusalOf(ending)).toMatch(/^denied (?:ADDRESS|URL)_REFUSED$/);
    expect(site.requests).toEqual([]);
  });

  test.each([
    '',
    'no url',
    '//127.0.0.1/',
    'http://',
    'http://[::1',
    'http://[fe80::1%25lo]/',
    'http://127.0.0.1:99999/',
    'http://a b/',
  ])('refuses %j, which is no URL', async (url) => {
    expect(await refusalOf(runExample(web, 'fetch', { url }))).toBe('failed URL_INVALID');
  });

  test('refuses the name localhost as the system resolves it', async () => {
    expect(await refusalOf(runExample(web, 'fetch', { url: `http://localhost:${site.port}/` }))).toBe(
      'denied ADDRESS_REFUSED',
    );
    expect(site.requests).toEqual([]);
  });

  test('names no internal address in its refusal', async () => {
    const ending = await request('http://inner.example/', { resolve: answering([v4('10.20.30.40')]) }).catch((error) =>
      String(error),
    );
    expect(ending).toContain('inner.example is not on the public internet');
    expect(ending).not.toContain('10.20');
  });
});

const v4 = (address: string): Address => ({ address, family: 4 });
const v6 = (address: string): Address => ({ address, family: 6 });

/** Answers one list after the other, the last one for ever, and counts. */
function answering(...answers: Address[][]): NonNullable<WebRules['resolve']> & { asked: string[] } {
  const asked: string[] = [];
  const resolve = async (host: string) => {
    asked.push(host);
    return answers[Math.min(asked.length, answers.length) - 1] ?? [];
  };
  return Object.assign(resolve, { asked });
}

const request = (url: string, rules: Partial<WebRules>) =>
  guardedRequest(
    { url, method: 'GET', headers: {} },
    { allow: [], maxBytes: 1024, ...rules },
    new AbortController().signal,
  );

describe('a name', () => {
  test.each([
    ['localhost.', [v4('127.0.0.1')]],
    ['LOCALHOST', [v6('::1')]],
    ['a.localhost', [v4('127.0.0.1')]],
    ['metadata.google.internal', [v4('169.254.169.254')]],
    ['mixed.example', [v4('93.184.215.14'), v4('10.0.0.1')]],
    ['mixed6.example', [v4('93.184.215.14'), v6('fd00::1')]],
    ['mapped.example', [v6('::ffff:127.0.0.1')]],
    ['mapped-public.example', [v6('::ffff:93.184.215.14')]],
    ['zone.example', [v6('fe80::1%eth0')]],
    ['zone-public.example', [v6('2606:4700::1%eth0')]],
    ['odd.example', [v4('not an address')]],
    ['odd4.example', [v4('0x7f.1')]],
  ])('%s with %j is refused', async (host, addresses) => {
    await expect(request(`http://${host}:${site.port}/`, { resolve: answering(addresses) })).rejects.toMatchObject({
      code: 'ADDRESS_REFUSED',
    });
    expect(site.requests).toEqual([]);
  });

  test('without an address is unknown', async () => {
    await expect(request('http://none.example/', { resolve: answering([]) })).rejects.toMatchObject({
      code: 'HOST_UNKNOWN',
    });
  });

  test('opened by the operator is opened with its port only', async () => {
    const resolve = answering([v4('127.0.0.1')]);
    const allow = [`open.example:${site.port}`];
    expect((await request(`http://open.example:${site.port}/`, { resolve, allow })).bytes.toString()).toBe('CANARY');
    await expect(request('http://open.example/', { resolve, allow })).rejects.toMatchObject({
      code: 'ADDRESS_REFUSED',
    });
    await expect(request(`http://127.0.0.1:${site.port}/`, { resolve, allow })).rejects.toMatchObject({
      code: 'ADDRESS_REFUSED',
    });
  });
});

describe('a name that changes its address', () => {
  // For these tests 127.0.0.2 plays the public internet: real connections, and none of them leaves the machine.
  const isPublic = (address: string): boolean => address === '127.0.0.2';

  test('is connected to at the address that was checked', async () => {
    const outer = await openLocalSite((_request, response) => response.end('PUBLIC'), '127.0.0.2', site.port);
    const resolve = answering([v4('127.0.0.2')], [v4('127.0.0.1')]);
    try {
      const response = await request(`http://rebind.example:${site.port}/`, { resolve, isPublic });
      expect(response.bytes.toString()).toBe('PUBLIC');
      expect(outer.requests[0]?.headers.host).toBe(`rebind.example:${site.port}`);
      expect(resolve.asked).toEqual(['rebind.example']);
      expect(site.requests).toEqual([]);
    } finally {
      await outer.close();
    }
  });

  test('is refused when a redirect asks again and finds it private', async () => {
    const outer = await openLocalSite(
      (_request, response) => response.writeHead(302, { location: '/again' }).end(),
      '127.0.0.2',
      site.port,
    );
    const resolve = answering([v4('127.0.0.2')], [v4('127.0.0.1')]);
    try {
      await expect(request(`http://rebind.example:${site.port}/`, { resolve, isPublic })).rejects.toMatchObject({
        code: 'ADDRESS_REFUSED',
      });
      expect(resolve.asked).toEqual(['rebind.example', 'rebind.example']);
      expect(site.requests).toEqual([]);
    } finally {
      await outer.close();
    }
  });
});

describe('isPublicAddress', () => {
  test.each([
    '1.1.1.1',
    '8.8.8.8',
    '93.184.215.14',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.0.1',
    '172.32.0.1',
    '169.253.0.1',
    '2606:4700::1111',
    '2a00:1450::1',
    '2001:4860:4860::8888',
    '2003::1',
  ])('lets %s through', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});
