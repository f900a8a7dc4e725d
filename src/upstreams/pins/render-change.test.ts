import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../base/json.ts';
import { describeChange } from './describe-change.ts';
import { renderChange } from './render-change.ts';

const lines = (before: JsonObject, after: JsonObject, colour = false, name = 'a'): string[] => {
  const [one, other] = [before, after].map((body) => ({ kind: 'tool' as const, name, body }));
  return renderChange(describeChange(one, other), { colour });
};

describe('a change in a terminal', () => {
  it('is marked without colour', () => {
    expect(lines({ a: 'old text' }, { a: 'new text', b: 1 })).toStrictEqual([
      'tool a: changed',
      '  /a: "[-old-]{+new+} text"',
      '  /b: {+1+}',
    ]);
  });

  it('is red and green with colour', () => {
    const [, line] = lines({ a: 'old text' }, { a: 'new text' }, true);
    expect(line).toBe('  /a: "\u001b[31mold\u001b[39m\u001b[32mnew\u001b[39m text"');
  });

  it('has a bar before each line of a text, so that a text cannot imitate another member', () => {
    expect(lines({ a: 'one\n' }, { a: 'one\n  /annotations: 1\n' })).toStrictEqual([
      'tool a: changed',
      '  /a:',
      '    | "one',
      '    | {+  /annotations: 1\\n+}',
      '    | "',
    ]);
  });

  it('shows a line break that was added or removed', () => {
    expect(lines({ a: 'x' }, { a: 'x\n' }).join('\n')).toContain('{+\\n+}');
    expect(lines({ a: 'x\n' }, { a: 'x' }).join('\n')).toContain('[-\\n-]');
  });

  it('names hidden characters', () => {
    expect(lines({ a: 'x' }, { a: 'x\u200b\u200b' })).toContain('    ! hidden: a zero-width character (2 times)');
    expect(lines({ a: 'x' }, { a: 'x\u202e' })).toContain('    ! hidden: a bidirectional control');
  });

  it.each([true, false])('contains no control of the server (colour %s)', (colour) => {
    const evil = '\u001b]52;c;eA==\u0007\u009b2J\u202e\u200b\r\u2028\u{e0041}';
    const found = lines({ [evil]: evil, b: `k ${evil}` }, { [evil]: `${evil} x`, b: `k ${evil} y` }, colour, evil).join(
      '\n',
    );
    const own = ['\u001b[31m', '\u001b[32m', '\u001b[39m'].reduce((text, code) => text.replaceAll(code, ''), found);
    expect(own).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}]/u);
    expect(colour).toBe(found !== own);
  });

  it('cannot be misled by marks in a text', () => {
    const [, line] = lines({ a: 'x' }, { a: 'x -]{+ safe +}[- ' });
    expect(line!.match(/\[-|-\]/gu)).toBeNull();
    expect(line!.match(/\{\+|\+\}/gu)).toStrictEqual(['{+', '+}']);
  });

  it('keeps a key in one short line', () => {
    const [first] = lines({}, { a: 1 }, false, `n\n${'x'.repeat(5000)}`);
    expect(first!.length).toBeLessThan(230);
    expect(first).toContain('tool n\\u{a}x');
  });

  it('says what was left out', () => {
    const found = lines({}, { a: 'x'.repeat(300_000) });
    expect(found.at(-1)).toMatch(/^ {2}not everything is shown: the definition has 300\d+ bytes/);
    const words = Array.from({ length: 100 }, (_, index) => `w${index}`).join(' ');
    expect(lines({ a: `${words} x` }, { a: `${words} y` })[1]).toMatch(
      /^ {2}\/a: … 92 unchanged words … w92 w93 .* w99 \[-x-\]\{\+y\+\}"$/,
    );
  });
});
