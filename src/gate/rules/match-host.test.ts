import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgedAs } from '../../../test/support/judged-as.ts';
import { hostOfAddress, readHostEntry } from './match-host.ts';

describe('hostOfAddress', () => {
  it.each([
    ['https://example.com', 'example.com'],
    ['https://example.com/a?b#c', 'example.com'],
    ['HTTPS://EXAMPLE.COM', 'example.com'],
    ['https://example.com:8443/', 'example.com'],
    ['https://example.com?x', 'example.com'],
    ['https://example.com#x', 'example.com'],
    ['https://example.com./', 'example.com'],
    ['https://user:secret@example.com/', 'example.com'],
    ['https://good.com@evil.com/', 'evil.com'],
    ['https://good.com:80@evil.com/', 'evil.com'],
    ['https://good.com%2f@evil.com/', 'evil.com'],
    ['https://evil.com/@good.com', 'evil.com'],
    ['https://evil.com?@good.com', 'evil.com'],
    ['https://evil.com#@good.com', 'evil.com'],
    ['https://evil.com/\\@good.com', 'evil.com'],
    ['https://good.com.evil.com/', 'good.com.evil.com'],
    ['https://BÜCHER.example/', 'xn--bcher-kva.example'],
    ['https://ｅｖｉｌ.com/', 'evil.com'],
    ['https://evil\u3002com/', 'evil.com'],
    ['https://g\u043Eod.com/', 'xn--god-sed.com'],
    ['redis://Cache.Internal:6379/0', 'cache.internal'],
    ['git+ssh://git@GitHub.com/a/b', 'github.com'],
    ['http://127.0.0.1:80/', '127.0.0.1'],
    ['http://2130706433/', '127.0.0.1'],
    ['http://0x7f.1/', '127.0.0.1'],
    ['http://1.2.3/', '1.2.0.3'],
    ['http://0177.0.0.1/', '127.0.0.1'],
    ['foo://0x7f.1/', '127.0.0.1'],
    ['http://[::1]:80/', '[::1]'],
    ['http://[0:0:0:0:0:0:0:1]/', '[::1]'],
    ['http://[::FFFF:127.0.0.1]/', '127.0.0.1'],
    ['http://[::ffff:7f00:1]/', '127.0.0.1'],
    ['http://localhost', 'localhost'],
  ])('of %s is %s', (address, host) => {
    expect(hostOfAddress(address)).toBe(host);
  });

  it.each([
    'http://evil.com\\@good.com',
    'http://evil.com\\.good.com',
    'http://good.com\\',
    'http:\\\\evil.com',
    'http:evil.com',
    'http:/evil.com',
    'http:///evil.com',
    'http://',
    '//evil.com',
    '/evil.com',
    'evil.com',
    'evil.com:80/x',
    'www.evil.com/x',
    ' http://evil.com',
    '\thttp://evil.com',
    'ht\ntp://evil.com',
    'http://ev\til.com',
    'http://evil.com\r\nHost: good.com',
    'http://evil .com',
    'http://evil.com\u0000.good.com',
    'http://evil.com\u00a0@good.com',
    'http://a@b@evil.com/',
    'http://%65vil.com/',
    'http://evil.com%2f.good.com/',
    'http://evil.com:99999/',
    'http://evil..com/',
    'http://evil.com../',
    'http://./',
    'http://user@/',
    'http://[::1',
    'http://[fe80::1%25eth0]/',
    'http://256.1.1.1/',
    'http://1.2.3.4.5/',
    'http://xn--a/',
    'file:///etc/passwd',
    'mailto:ann@evil.com',
    'javascript:alert(1)',
    'data:text/html,http://good.com',
    'git@github.com:a/b.git',
    'http\u017f://good.com/',
    '',
    '://evil.com',
  ])('of %j cannot be told for sure', (text) => {
    expect(hostOfAddress(text)).toBeUndefined();
  });

  it('never throws, and is what a browser would ask, or nothing', () => {
    const piece = fc.constantFrom(
      ...'http s : / // \\ @ [ ] % . ? # \t \0 - xn-- 0x é https:// good.com Evil.com 1 a \u3002'.split(' '),
      ' ',
    );
    const text = fc.oneof(
      fc.string(),
      fc.array(piece).map((parts) => parts.join('')),
      fc.array(piece).map((parts) => `http://${parts.join('')}`),
    );
    const ofBrowser = (address: string) => new URL(address).hostname.replace(/\.$/, '');
    fc.assert(
      fc.property(text, (address) => {
        const host = hostOfAddress(address);
        const asked = host === undefined ? undefined : ofBrowser(address.replace(/^[^:]+/, 'http'));
        expect(host).toBe(asked);
      }),
      { numRuns: 500 },
    );
  });
});

describe('host', () => {
  it.each<[string[], string, ReturnType<typeof judgedAs>]>([
    [['good.com'], 'https://good.com/', 'holds'],
    [['Good.COM.'], 'https://good.com/', 'holds'],
    [['good.com'], 'https://www.good.com/', 'fails'],
    [['*.good.com'], 'https://www.good.com/', 'holds'],
    [['*.good.com'], 'https://a.b.good.com/', 'holds'],
    [['*.good.com'], 'https://good.com/', 'fails'],
    [['*.good.com'], 'https://notgood.com/', 'fails'],
    [['*.good.com'], 'https://www.good.com.evil.com/', 'fails'],
    [['good.com', '*.good.com'], 'https://good.com/', 'holds'],
    [['bücher.example'], 'https://xn--bcher-kva.example/', 'holds'],
    [['*.bücher.example'], 'https://www.xn--bcher-kva.example/', 'holds'],
    [['::1'], 'http://[0::1]/', 'holds'],
    [['[::1]'], 'http://[0::1]/', 'holds'],
    [['127.0.0.1'], 'http://[::ffff:127.0.0.1]/', 'holds'],
    [['127.0.0.1'], 'http://2130706433/', 'holds'],
    [['169.254.169.254'], 'http://0xa9fea9fe/latest/meta-data', 'holds'],
    [['good.com'], 'http://evil.com\\@good.com', 'unclear'],
    [['good.com'], 'good.com', 'unclear'],
    [['good.com'], 'file:///good.com', 'unclear'],
  ])('%j of %s: %s', (host, text, judgement) => {
    expect(judgedAs({ at: '/url', host }, { url: text })).toBe(judgement);
  });
});

describe('readHostEntry', () => {
  it.each([
    '',
    '*',
    '*.',
    'a.*',
    '*.*.com',
    'http://a.com',
    'a.com/',
    'a.com:80',
    'u@a.com',
    '[::1]:80',
    '*.1.2.3.4',
    '*.[::1]',
    'a b',
    'a..b',
    '%61.com',
    'a.com?',
    '\\',
  ])('refuses %j', (entry) => {
    expect(readHostEntry(entry)).toBeUndefined();
  });
});
