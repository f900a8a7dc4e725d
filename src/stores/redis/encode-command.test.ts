import { Command } from 'ioredis';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeCommand, type Argument } from './encode-command.ts';

/** The bytes of a command as the client library writes them. */
function expected(name: string, args: readonly Argument[]): string {
  return Buffer.from(new Command(name, [...args] as string[]).toWritable({} as never)).toString('hex');
}

describe('encodeCommand', () => {
  it.each<[string, Argument[]]>([
    ['no arguments', []],
    ['text alone', ['a', '', 'b'.repeat(70_000)]],
    ['bytes first and last', [Buffer.from([0, 13, 10, 255]), 'x', Buffer.alloc(0)]],
    ['text that is longer in bytes, at the end', [Buffer.from('x'), 'é']],
    ['text that is longer in bytes, before bytes', ['☃☃☃☃', Buffer.alloc(100, 1), 'a']],
    ['text that is longer in bytes, as much as its neighbours', ['€'.repeat(9), 'aaa', '\u{1f600}', Buffer.from('z')]],
    ['half of a surrogate pair', ['\ud800', 'a']],
  ])('writes %s as the library does', (_what, args) => {
    expect(encodeCommand('FCALL', args).toString('hex')).toBe(expected('FCALL', args));
  });

  it('writes any arguments as the library does', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '\r', '\n', '\0', 'é', '☃', '\u{1f600}'), maxLength: 40 });
    const bytes = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array));
    fc.assert(
      fc.property(fc.array(fc.oneof(text, bytes), { maxLength: 12 }), (args) => {
        expect(encodeCommand('XADD', args).toString('hex')).toBe(expected('XADD', args));
      }),
    );
  });
});
