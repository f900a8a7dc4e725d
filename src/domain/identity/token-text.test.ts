import { describe, expect, it } from 'vitest';
import { sha256 } from '../../base/sha256.ts';
import { newTokenText, readTokenText } from './token-text.ts';

describe('the text of a token', () => {
  it('reads back as the id and the digest it was made with', () => {
    const { text, id, secretDigest } = newTokenText();
    expect(text).toMatch(/^spt_[a-z2-7]{16}_[A-Za-z0-9_-]{43}$/);
    expect(readTokenText(text)).toEqual({ id, secretDigest });
    expect(secretDigest).toBe(sha256(text.slice(-43)));
  });

  it('has an id and a secret of its own each time', () => {
    const made = Array.from({ length: 200 }, newTokenText);
    expect(new Set(made.map(({ id }) => id)).size).toBe(200);
    expect(new Set(made.map(({ secretDigest }) => secretDigest)).size).toBe(200);
  });

  const { text } = newTokenText();
  it.each([
    ['nothing', ''],
    ['no text', undefined],
    ['a list with one', [text]],
    ['something in front', ` ${text}`],
    ['a line behind', `${text}\n`],
    ['another line', `${text}\n${text}`],
    ['capitals', text.toUpperCase()],
    ['another kind', text.replace('spt_', 'sps_')],
    ['no id', `spt__${text.slice(-43)}`],
    ['a letter that no id has', text.replace(/^spt_./, 'spt_1')],
    ['a short secret', text.slice(0, -1)],
    ['a long secret', `${text}A`],
    ['a long one', `spt_${'a'.repeat(16)}_${'A'.repeat(1_000_000)}`],
    ['padding', `${text.slice(0, -1)}=`],
    ['a letter that looks like one', text.replace(/.$/, 'а')],
    ['a zero byte', text.replace(/.$/, '\0')],
  ])('is none with %s', (_, bad) => {
    expect(readTokenText(bad)).toBeUndefined();
  });
});
