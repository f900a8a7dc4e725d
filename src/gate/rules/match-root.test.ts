import { posix } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgedAs } from '../../../test/support/judged-as.ts';
import { readRoot } from './match-root.ts';

describe('root', () => {
  it.each<[string[], string, ReturnType<typeof judgedAs>]>([
    [['/data'], '/data', 'holds'],
    [['/data'], '/data/', 'holds'],
    [['/data/'], '/data/a/b', 'holds'],
    [['/data'], '/database', 'fails'],
    [['/data'], '/data.txt', 'fails'],
    [['/data'], '/Data/a', 'fails'],
    [['/data'], '/data/../etc/passwd', 'fails'],
    [['/data'], '/data/a/../b', 'holds'],
    [['/data'], '/data/./a//b///c', 'holds'],
    [['/data'], '//data//a', 'holds'],
    [['/data'], '/../../data/a', 'holds'],
    [['/data'], '/etc/../data/a', 'holds'],
    [['/data'], '/data/...', 'holds'],
    [['/data'], '/data/..a', 'holds'],
    [['/data'], '/data/a\n../../etc', 'holds'],
    [['/data'], '/', 'fails'],
    [['/data'], '/data/%2e%2e/etc', 'holds'],
    [['/'], '/etc/passwd', 'holds'],
    [['/data', '/tmp'], '/tmp/a', 'holds'],
    [['//data//./x/'], '/data/x/a', 'holds'],

    // The text alone does not show which place the path means.
    [['/data'], '', 'unclear'],
    [['/data'], '/data/a\0/../../etc', 'unclear'],
    [['/data'], 'a', 'unclear'],
    [['/data'], 'data/a', 'unclear'],
    [['/data'], '../data/a', 'unclear'],
    [['/data'], '~/a', 'unclear'],
    [['/data'], 'file:///data/a', 'unclear'],
    [['/data'], 'C:\\data\\a', 'unclear'],
    [['/data'], 'C:/data/a', 'unclear'],
    [['/data'], '\\data\\a', 'unclear'],
    [['/data'], '\\\\server\\share', 'unclear'],

    // A backslash: both ways of reading it must agree.
    [['/data'], '/data/a\\b', 'holds'],
    [['/data'], '/data/..\\..\\etc\\passwd', 'unclear'],
    [['/data'], '/data\\..\\etc', 'fails'],
    [['/data'], '/etc\\..\\data', 'unclear'],
    [['/data'], '/etc/a\\b', 'fails'],

    [['work'], 'work/a', 'holds'],
    [['./work'], 'work', 'holds'],
    [['work'], './work/../work/a', 'holds'],
    [['work'], 'workshop/a', 'fails'],
    [['work'], 'other/../../work', 'unclear'],
    [['work'], '../here/work/a', 'unclear'],
    [['work'], '/srv/work/a', 'unclear'],
    [['work'], '~/work', 'unclear'],
    [['work'], '..\\work', 'unclear'],
    [['.'], 'a/b', 'holds'],
    [['.'], '../a', 'unclear'],
    [['.'], '~ann/a', 'unclear'],
    [['.'], 'file:///etc/passwd', 'unclear'],
    [['.'], 'a\\..\\..\\etc', 'unclear'],
    [['/data', 'work'], 'work/a', 'holds'],
    [['/data', 'work'], '/data/a', 'holds'],
    [['/data', 'work'], '/etc', 'unclear'],
  ])('%j of %j: %s', (root, path, judgement) => {
    expect(judgedAs({ at: '/path', root }, { path })).toBe(judgement);
  });

  it('agrees with the path module on every absolute path', () => {
    const part = fc.constantFrom('data', 'database', 'etc', '.', '..', '', 'a b', '...', '~');
    const path = fc.array(part, { minLength: 1 }).map((parts) => `/${parts.join('/')}`);
    fc.assert(
      fc.property(path, (text) => {
        const resolved = posix.resolve(text);
        const isBelow = resolved === '/data' || resolved.startsWith('/data/');
        expect(judgedAs({ at: '/path', root: ['/data'] }, { path: text })).toBe(isBelow ? 'holds' : 'fails');
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('readRoot', () => {
  it.each(['', '..', '../a', '/a/../b', 'a/..', '~', '~/a', 'C:\\a', 'C:/a', 'a\\b', '/a\0', 'file:///a'])(
    'refuses %j',
    (text) => {
      expect(readRoot(text)).toBeUndefined();
    },
  );
});
