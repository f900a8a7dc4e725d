import { expect, test } from 'vitest';
import { LineReader } from './line-reader.ts';

/** The lines of a text that arrives in chunks of this size. */
function read(text: string, size: number, maxBytes: number): string[] {
  const reader = new LineReader(maxBytes);
  const bytes = Buffer.from(text);
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += size)
    lines.push(...reader.push(bytes.subarray(at, at + size)).map((line) => line.toString()));
  return lines;
}

test.each([1, 2, 3, 7, 100])('LineReader finds the same lines in chunks of %i bytes', (size) => {
  expect(read('one\n\ntwö\r\n12345\ntail', size, 5)).toEqual(['one', '', 'twö\r', '12345']);
});

test.each([1, 2, 3, 7, 100])('LineReader reports a line that is too long once, in chunks of %i bytes', (size) => {
  expect(read('ok\n123456\nok\n1234567890\n12345\n', size, 5)).toEqual(['ok', 'too-long', 'ok', 'too-long', '12345']);
});

test('LineReader reports a line that is too long before it ends, and keeps nothing of it', () => {
  const reader = new LineReader(5);
  const chunk = Buffer.from('1234');
  expect(reader.push(chunk)).toEqual([]);
  expect(reader.push(chunk)).toEqual(['too-long']);
  for (let count = 0; count < 1000; count += 1) expect(reader.push(chunk)).toEqual([]);
  expect(reader.push(Buffer.from('\nok\n'))).toEqual([Buffer.from('ok')]);
});
