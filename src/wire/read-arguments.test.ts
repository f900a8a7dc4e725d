import { describe, expect, it } from 'vitest';
import { ARGUMENTS_BYTES, argumentsOfBytes, COMMON_BAD_INPUT } from '../../test/fixtures/bad-input/common.ts';
import { readArguments } from './read-arguments.ts';

const TEXTS = COMMON_BAD_INPUT.flatMap(({ input, ...row }) =>
  input.kind === 'text' ? [{ ...row, text: input.text }] : [],
);

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

  it('tells an escaped backslash before u0000 from a NUL', () => {
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
});
