import { describe, expect, test } from 'vitest';
import { readArguments } from './read-arguments.ts';

describe('readArguments', () => {
  test('sorts keys as the shown arguments are sorted', () => {
    expect(readArguments('{"b": [{"d": 1, "c": 2}], "a": null}')).toMatchObject({
      kind: 'valid',
      normal: '{\n  "a": null,\n  "b": [\n    {\n      "c": 2,\n      "d": 1\n    }\n  ]\n}',
    });
  });

  test('shows a number as it will be sent, not as it was written', () => {
    expect(readArguments('{"n": 12345678901234567890}')).toMatchObject({ normal: '{\n  "n": 12345678901234567000\n}' });
  });

  test.each(['', '{', '[]', 'null', '"text"', '{"a": [redacted, 4 bytes]}'])('refuses %j', (text) => {
    expect(readArguments(text).kind).toBe('invalid');
  });

  test('keeps a key called __proto__ a key', () => {
    const read = readArguments('{"__proto__": {"admin": true}}');
    expect(read.kind === 'valid' && JSON.stringify(read.value)).toBe('{"__proto__":{"admin":true}}');
  });
});
