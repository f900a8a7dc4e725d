import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Taint } from './taint.ts';

function tainted(...secrets: readonly (readonly [string, string])[]): Taint {
  const taint = new Taint();
  for (const [name, value] of secrets) taint.add(name, value);
  return taint;
}

const KEY = 'k3y/with+"odd" pärts&<x>';
const escapesOf = (value: string): Record<string, string> => ({
  raw: value,
  base64: Buffer.from(value).toString('base64'),
  'base64 after one': Buffer.from(`a${value}z`).toString('base64'),
  'base64 after two': Buffer.from(`ab${value}`).toString('base64'),
  base64url: Buffer.from(`u:${value}`).toString('base64url'),
  url: encodeURIComponent(value),
  'url in small letters': encodeURIComponent(value).replaceAll(/%../g, (escape) => escape.toLowerCase()),
  form: new URLSearchParams({ q: value }).toString(),
  json: JSON.stringify({ a: value }),
  'json in json': JSON.stringify({ a: JSON.stringify({ b: value }) }),
  'ascii json': JSON.stringify(value).replaceAll('ä', '\\u00e4'),
  'html-safe json': JSON.stringify(value).replaceAll('ä', '\\u00e4').replaceAll('&', '\\u0026').replaceAll('<', '\\u003c').replaceAll('>', '\\u003e'),
  'html': value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&#34;').replaceAll("'", '&#x27;'),
  'base64 in an address': encodeURIComponent(Buffer.from(`${value}???`).toString('base64')),
  'every byte escaped': Array.from(Buffer.from(value), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  hex: Buffer.from(value).toString('hex'),
}); // prettier-ignore

describe('a tainted call', () => {
  it.each(Object.entries(escapesOf(KEY)))('scrubs its secret out of a text: %s', (_, escaped) => {
    const scrubbed = tainted(['KEY', KEY]).scrubText(`before ${escaped} after`);
    expect(scrubbed).toContain('[secret KEY]');
    expect(scrubbed).toMatch(/^before .* after$/);
    expect(scrubbed).not.toContain(escaped);
  });

  it('scrubs base64 that is broken into lines', () => {
    const value = 'a secret that is long enough to be broken into several lines of base64 by most programs';
    const lines = Buffer.from(`user:${value}`)
      .toString('base64')
      .match(/.{1,60}/g)!;
    for (const text of [lines.join('\n'), lines.join('\r\n'), JSON.stringify(lines.join('\n'))]) {
      const scrubbed = tainted(['KEY', value]).scrubText(text);
      expect(scrubbed).toContain('[secret KEY]');
      for (const line of lines.slice(1, -1)) expect(scrubbed).not.toContain(line);
    }
  });

  it('scrubs lines of a secret that has several', () => {
    const pem = '-----BEGIN KEY-----\nMIIEowIBAAKCAQEA\nabcdefghijklmnop\n-----END KEY-----';
    expect(tainted(['KEY', pem]).scrubText('  MIIEowIBAAKCAQEA\n  abcdefghijklmnop')).toBe(
      '  [secret KEY]\n  [secret KEY]',
    );
  });

  it('scrubs structures, their keys, numbers and bytes', () => {
    const taint = tainted(['KEY', 'hunter2-hunter2'], ['PIN', '493817']);
    const value = { list: ['x', { 'is hunter2-hunter2': 1 }], pin: 493_817, bytes: Buffer.from('a hunter2-hunter2 b') };
    expect(taint.scrub(value)).toStrictEqual({
      list: ['x', { 'is [secret KEY]': 1 }],
      pin: '[secret PIN]',
      bytes: Buffer.from('a [secret KEY] b'),
    });
    const other = { list: ['x', { y: 1 }], bytes: Buffer.from([0, 255]) };
    expect(taint.scrub(other)).toBe(other);
  });

  it('keeps the length of bytes that are no text, in any of their encodings', () => {
    const taint = tainted(['KEY', 'hunter2-hunter2']);
    const bytes = Buffer.concat([Buffer.from([0, 255]), Buffer.from('hunter2-hunter2'), Buffer.from([255])]);
    const scrubbed = taint.scrub(bytes);
    expect(scrubbed.length).toBe(bytes.length);
    expect(scrubbed.includes('hunter2')).toBe(false);
    expect(taint.scrub(Buffer.from('hunter2-hunter2', 'utf16le')).toString('utf16le')).not.toContain('hunter2');
  });

  it('finds a short secret only where it stands alone', () => {
    const taint = tainted(['PIN', '4938']);
    expect(taint.scrubText('pin=4938, not 149380 or a4938')).toBe('pin=[secret PIN], not 149380 or a4938');
    expect(taint.scrubText(`b64 ${Buffer.from('4938').toString('base64')}`)).toBe('b64 [secret PIN]');
  });

  it('scrubs overlapping repetitions as a whole', () => {
    expect(tainted(['A', 'aaaaaa']).scrubText(`x${'a'.repeat(17)}y`)).toBe('x[secret A]y');
    expect(tainted(['A', 'ababab']).scrubText('ababababa!')).toBe('[secret A]!');
  });

  it('is not confused by a secret that looks like its own mark', () => {
    const taint = tainted(['A', 'secret A'], ['B', 'hunter2-hunter2']);
    expect(taint.scrubText('hunter2-hunter2 secret A')).toBe('[secret B] [secret A]');
  });

  it('scrubs the beginning of a secret where a text was cut', () => {
    const taint = tainted(['KEY', 'hunter2-hunter2']);
    expect(taint.scrubText('failed: hunter2-hun', true)).toBe('failed: [secret KEY]');
    expect(taint.scrubText('failed: hunter2-hun')).toBe('failed: hunter2-hun');
  });

  it('scrubs each long beginning of a secret in a text that was cut', () => {
    const taint = tainted(['KEY', 'hunter2-hunter2-hunter2-horse'], ['SHORT', 'abcdefghijklmnop']);
    expect(taint.scrubText('no "hunter2-hunter2-hun…", no hunter2-hunter2-! ', true)).toBe(
      'no "[secret KEY]…", no [secret KEY]! ',
    );
    expect(taint.scrubText('hunter2-hunter2-hunter2-hunter2-hunter2-horse', true)).toBe('[secret KEY]');
    const kept = 'no hunter2-hunter2 abcdefghijklmno!';
    expect(taint.scrubText(kept, true)).toBe(kept);
    expect(taint.scrubText('no "hunter2-hunter2-hun…"')).toBe('no "hunter2-hunter2-hun…"');
  });

  it('scrubs what the name of a file keeps of one', () => {
    const taint = tainted(['KEY', 'path/to/hunter2-hunter2'], ['LONG', 'long-'.repeat(60)]);
    expect(taint.scrubFileName('hunter2-hunter2.txt')).toBe('[secret KEY].txt');
    expect(taint.scrubFileName('report.txt')).toBe('report.txt');
    expect(taint.scrubFileName(`${'long-'.repeat(39)}.txt`)).toBe('[secret LONG].txt');
  });

  it('turns secrets into references for other calls, and other forms of them into marks', () => {
    const taint = tainted(['KEY', 'hunter2-hunter2']);
    const base64 = Buffer.from('hunter2-hunter2').toString('base64');
    expect(taint.toReferences({ a: 'hunter2-hunter2', b: ['Bearer hunter2-hunter2'], c: base64, d: 1 })).toStrictEqual({
      a: 'secret:KEY',
      b: ['Bearer ${secret:KEY}'],
      c: '[secret KEY]',
      d: 1,
    });
  });

  it('leaves nothing of any secret in any text, however it is written', () => {
    const secret = fc
      .string({ minLength: 6, maxLength: 60, unit: 'grapheme' })
      .filter((text) => text.trim().length >= 6);
    fc.assert(
      fc.property(secret, fc.string(), fc.string(), fc.nat(30), (value, before, after, which) => {
        const escapes = Object.values(escapesOf(value));
        const escaped = escapes[which % escapes.length]!;
        // An escape character just before the escaped secret would change its meaning, so `before` has none.
        const scrubbed = tainted(['NAME', value]).scrubText(before.replaceAll(/[%\\&]/g, '') + escaped + after);
        // The mark itself may contain the letters of the secret, so it is replaced before the comparison.
        const left = scrubbed.replaceAll('[secret NAME]', '\u0000');
        for (const form of [value, encodeURIComponent(value)]) expect(left).not.toContain(form);
        expect(scrubbed).toContain('[secret NAME]');
      }),
      { numRuns: 1000 },
    );
  });

  it('is done with long texts of a secret that repeats itself', () => {
    const taint = tainted(['A', 'a'.repeat(20_000)]);
    expect(taint.scrubText('a'.repeat(2_000_000), true)).toBe('[secret A]');
    expect(taint.scrubText(`${'a'.repeat(19_999)}b`.repeat(50)).length).toBe(1_000_000);
    expect(taint.scrubText(`${'a'.repeat(19_999)}b`.repeat(50), true)).toBe('[secret A]b'.repeat(50));
    const almost = tainted(['B', `${'a'.repeat(15)}b${'a'.repeat(10_000)}`]);
    expect(almost.scrubText('a'.repeat(1_000_000), true).length).toBe(1_000_000 - 15 + '[secret B]'.length);
  });
});
