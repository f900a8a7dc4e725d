import { describe, expect, test } from 'vitest';
import { decode, encode } from './message-pack.ts';
import { findMessagePackProblem } from './check-message-pack.ts';
import { encodeFrame, FrameReader } from './frames.ts';

const message = {
  type: 'ending',
  run: 3,
  list: [1, -5, 2 ** 40, 1.5, null, true, 'text'],
  bytes: Buffer.alloc(5000, 7),
  deep: { a: { b: [] } },
};

describe('FrameReader', () => {
  test('finds the same frames however the stream is cut', () => {
    const stream = Buffer.concat([encodeFrame({ a: 1 }), encodeFrame(message), encodeFrame({ b: 2 })]);
    for (const size of [1, 3, 4096, stream.length]) {
      const reader = new FrameReader();
      const bodies: Buffer[] = [];
      for (let at = 0; at < stream.length; at += size)
        bodies.push(...reader.push(stream.subarray(at, at + size), 100_000));
      expect(bodies.map((body) => Object.keys(decode(body) as object)[0])).toEqual(['a', 'type', 'b']);
      expect(decode(bodies[1]!)).toEqual(message);
    }
  });

  test('refuses a frame by its announced length, before the bytes come', () => {
    expect(() => new FrameReader().push(Buffer.from([0xff, 0xff, 0xff, 0xff]), 1000)).toThrow(
      'a frame of 4294967295 bytes',
    );
  });
});

describe('findMessagePackProblem', () => {
  test('accepts what the encoder writes', () => {
    expect(findMessagePackProblem(encode(message))).toBeUndefined();
    const long = {
      text: 'x'.repeat(70_000),
      list: Array.from({ length: 70_000 }, (_, index) => index),
      map: Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`k${index}`, index])),
    };
    expect(findMessagePackProblem(encode(long))).toBeUndefined();
  });

  const rows: readonly (readonly [string, number[], string])[] = [
    ['an extension', [0x91, 0xd4, 0x65, 0x00], 'a value of type 0xd4'],
    ['a long extension', [0xc7, 0x02, 0x72, 0x00, 0x00], 'a value of type 0xc7'],
    ['the unused type', [0xc1], 'a value of type 0xc1'],
    ['a list of 4 billion', [0xdd, 0xff, 0xff, 0xff, 0xff, 0x01], 'cut short'],
    ['text beyond the end', [0xdb, 0x00, 0x00, 0xff, 0xff, 0x61], 'cut short'],
    ['a second value', [0x01, 0x02], 'trailing bytes'],
    ['deep nesting', Array.from({ length: 1000 }, () => 0x91), 'nested too deep'],
  ];
  test.each(rows)('refuses %s', (_what, bytes, problem) => {
    expect(findMessagePackProblem(Uint8Array.from(bytes))).toBe(problem);
  });

  test('refuses an empty body and a cut header', () => {
    expect(findMessagePackProblem(new Uint8Array())).toBeDefined();
    expect(findMessagePackProblem(Uint8Array.from([0xdd, 0x00]))).toBeDefined();
  });
});
