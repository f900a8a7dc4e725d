import { describe, expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { MAX_PROBLEMS, quote, StrictYaml } from './strict-yaml.ts';

function read(text: string): StrictYaml {
  const reader = new StrictYaml();
  reader.refuseUnclear(parseDocument(text, { uniqueKeys: false, lineCounter: reader.lines }));
  return reader;
}

describe('YAML that means what it shows', () => {
  it('is accepted', () => {
    expect(read('a: [1, { b: x }]\nc: |\n  text\n').problems).toStrictEqual([]);
  });

  it.each([
    ['a: &x 1\nb: *x', ['line 1: anchors are not supported', 'line 2: aliases are not supported']],
    ['a: 1\nb: !!int 1', ['line 2: tags are not supported']],
    ['a: 1\na: 2', ['line 2: the key "a" is there twice']],
    ['? [x]\n: 1', ['line 1: a key must be text']],
  ])('is not %j', (text, problems) => {
    expect(read(text).problems).toStrictEqual(problems);
  });

  it('has few problems', () => {
    expect(read(Array.from({ length: 100 }, () => '- &a 1').join('\n')).problems).toHaveLength(MAX_PROBLEMS);
  });

  it('quotes foreign text in one short line', () => {
    expect(quote('a\nb\u200b')).toBe('"a\\u{a}b\\u{200b}"');
    expect(quote('x'.repeat(500)).length).toBeLessThan(70);
  });
});
