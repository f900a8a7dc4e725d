import { describe, expect, it } from 'vitest';
import { judgedAs } from '../../../test/support/judged-as.ts';
import { readHostEntry } from './match-host.ts';

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
    [['ss.example'], 'http://ẞ.example/', 'unclear'],
    [['xn--zca.example'], 'http://ẞ.example/', 'unclear'],
    [['xn--4db.example'], 'http://א.example/', 'holds'],
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
    'xn--a',
    'ẞ.example',
    '*.aא.example',
    'a.com?',
    '\\',
  ])('refuses %j', (entry) => {
    expect(readHostEntry(entry)).toBeUndefined();
  });
});
