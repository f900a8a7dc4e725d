import { describe, expect, it } from 'vitest';
import { fillReferences, findReferences, parseSecretText, SECRET_PATTERN, secretMatches } from './secret-reference.ts';

const fill = (text: string) => fillReferences(text, (name) => (name === 'GONE' ? undefined : `<${name}>`));

describe('a reference to a secret', () => {
  it.each([
    ['secret:API_KEY', '<API_KEY>'],
    ['Bearer ${secret:API_KEY}', 'Bearer <API_KEY>'],
    ['${secret:A}:${secret:B}', '<A>:<B>'],
    ['secret::API_KEY', 'secret:API_KEY'],
    ['secret:::API_KEY', 'secret::API_KEY'],
    ['$${secret:API_KEY}', '${secret:API_KEY}'],
    ['$$${secret:A}', '$${secret:A}'],
    ['$${secret:A} ${secret:B}', '${secret:A} <B>'],
    ['secret:: and ${secret:A}', 'secret: and <A>'],
    ['secret: is a word', 'secret: is a word'],
    ['my secret:API_KEY', 'my secret:API_KEY'],
    ['secret:', 'secret:'],
    ['plain', 'plain'],
    ['secret:GONE', 'secret:GONE'],
  ])('%s is filled in as %s', (text, filled) => {
    expect(fill(text)).toBe(filled);
  });

  it.each([
    'secret:lower',
    'secret:A-B',
    'secret:sk-real-key-1234',
    '${secret:}',
    '${secret:lower}',
    '${secret:A',
    'a ${secret: A}',
  ])('%s is not a reference, and its letters are not reported', (text) => {
    const parsed = parseSecretText(text);
    expect(parsed.kind).toBe('invalid');
    expect(JSON.stringify(parsed)).not.toContain('sk-real');
    expect(fill(text)).toBe(text);
  });

  it('is found in every text of a value, and never in a key', () => {
    const found = findReferences({ a: ['secret:A', { b: 'x ${secret:B}' }], 'secret:C': 1 });
    expect([...found.names]).toStrictEqual(['A', 'B']);
    expect(findReferences({ a: 'secret::A' })).toMatchObject({ needsFilling: true, names: new Set() });
    expect(findReferences({ a: 'b' }).needsFilling).toBe(false);
  });

  it('is matched by its name, or by how that begins', () => {
    expect([secretMatches('A', 'A'), secretMatches('A', 'AB'), secretMatches('A_*', 'A_B'), secretMatches('*', 'X')]).toStrictEqual([
      true, false, true, true,
    ]); // prettier-ignore
    expect(['A', 'A_1', 'A*', 'MAIL_*'].every((name) => SECRET_PATTERN.test(name))).toBe(true);
    expect(['', '*', 'a', '1A', 'A*B', 'A-B', `A${'B'.repeat(64)}`].some((name) => SECRET_PATTERN.test(name))).toBe(
      false,
    );
  });
});
