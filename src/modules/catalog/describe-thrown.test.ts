import { describe, expect, it } from 'vitest';
import { describeThrown } from './describe-thrown.ts';

const trap = {
  get message(): string {
    throw new Error('trap');
  },
};

describe('describeThrown', () => {
  it.each([
    ['an error', new Error('no config'), 'Its import threw Error: no config'],
    ['null', null, 'Its import threw null.'],
    ['a string', 'x\u001b[2Jy\nz', 'Its import threw "x [2Jy".'],
    ['undefined', undefined, 'Its import threw a undefined.'],
    ['an error whose message throws', trap, 'Its import threw something that cannot be read.'],
    ['a message that hides text', new Error('a\u202eb\u200bc'), 'Its import threw Error: a b c'],
  ])('writes one clean line for %s', (_what, thrown, line) => {
    expect(describeThrown(thrown, '/modules/x.js')).toBe(line);
  });

  it('names the line in the module file and nothing else of the stack', () => {
    const error = new Error('boom');
    error.stack = 'Error: boom\n    at inner (/lib/y.js:9:1)\n    at file:///modules/x.js?g1:12:7';
    expect(describeThrown(error, '/modules/x.js')).toBe('Its import threw Error at line 12: boom');
  });

  it('cuts a long message', () => {
    expect(describeThrown(new Error('x'.repeat(10_000)), '/x.js').length).toBeLessThan(500);
  });
});
