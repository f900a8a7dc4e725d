import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { ARGUMENTS_BYTES, argumentsOfBytes, COMMON_BAD_INPUT } from '../../../test/fixtures/bad-input/common.ts';
import { readArguments } from './read-arguments.ts';
import { parseStrictJson } from '../../base/strict-json.ts';

const TEXTS = COMMON_BAD_INPUT.flatMap(({ input, ...row }) =>
  input.kind === 'text' ? [{ ...row, text: input.text }] : [],
);

/**
 * The value that the strict reader reads from the text. Undefined if it refuses the text, or if the value is not an object or contains a
 * NUL.
 */
function valueOf(text: string): JsonObject | undefined {
  const strict = parseStrictJson(text);
  const isFree = strict.ok && isJsonObject(strict.value) && !JSON.stringify(strict.value).includes(String.raw`\u0000`);
  return isFree ? (strict.value as JsonObject) : undefined;
}

describe('readArguments', () => {
  it.each(TEXTS.filter(({ answer }) => answer !== 'ok' && answer !== 'schema'))(
    '$id: $what is refused ($answer), without the value',
    ({ text }) => {
      const read = readArguments(text);
      expect(read.ok).toBe(false);
      expect(JSON.stringify(read).length).toBeLessThan(300);
    },
  );

  it.each(TEXTS.filter(({ answer }) => answer === 'ok' || answer === 'schema'))('$id: $what is read', ({ text }) => {
    expect(readArguments(text)).toEqual({ ok: true, value: JSON.parse(text) });
  });

  it('distinguishes an escaped backslash before u0000 from a NUL', () => {
    expect(readArguments(String.raw`{"a":"\\u0000"}`)).toEqual({ ok: true, value: { a: String.raw`\u0000` } });
    expect(readArguments(String.raw`{"a":"\u0000"}`)).toEqual({
      ok: false,
      problem: 'arguments.a has a NUL character',
    });
  });

  it('takes arguments as large as they may be', () => {
    expect(readArguments(argumentsOfBytes(ARGUMENTS_BYTES)).ok).toBe(true);
    expect(readArguments(argumentsOfBytes(ARGUMENTS_BYTES + 1)).ok).toBe(false);
  });

  /** Numbers, keys and escapes at the borders of what is allowed. */
  const PIECES = [
    ...'{ } [ ] : , " "a" "b" "__proto__" "constructor" 0 -0 1 1.0 1e3 1e+21 9007199254740991 9007199254740993'.split(
      ' ',
    ),
    ...'123456789012345680000 1e-400 1e400 true null é 😀 \ud800 \ufeff'.split(' '),
    ...String.raw`\u0041 "\ud800" "\u0000" "\"\\"`.split(' '),
    ' ',
    '\n',
  ];

  it.each([
    ['any JSON', fc.json()],
    ['objects', fc.object().map((value) => JSON.stringify(value))],
    ['pieces', fc.array(fc.constantFrom(...PIECES), { maxLength: 24 }).map((pieces) => pieces.join(''))],
    [
      'objects of pieces',
      fc.array(fc.constantFrom(...PIECES), { maxLength: 4 }).map((pieces) => `{"a":${pieces.join('')},"b":1}`),
    ],
    [
      'depths around the limit',
      fc.integer({ min: 60, max: 68 }).map((depth) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`),
    ],
  ])('reads %s as the strict reader does', (_what, texts) => {
    fc.assert(
      fc.property(texts, (text) => {
        const read = readArguments(text);
        expect(read.ok ? read.value : 'refused').toEqual(valueOf(text) ?? 'refused');
      }),
      { numRuns: 2000 },
    );
  });
});
