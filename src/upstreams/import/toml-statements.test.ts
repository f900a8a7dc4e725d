import { describe, expect, it } from 'vitest';
import { placesIn } from './text-place.ts';
import { tomlStatements } from './toml-statements.ts';

const found = (text: string): string[] =>
  tomlStatements(text).map(({ kind, path, start, end }) => `${kind} ${path.join('|')}: ${text.slice(start, end)}`);

describe('tomlStatements', () => {
  it('finds tables and assignments with their whole paths', () => {
    expect(found('a = 1 # x\n[b.c] # y\n"d e".f = 2\n\n[[g]]\nh = 3')).toEqual([
      'pair a: a = 1',
      'table b|c: [b.c]',
      'pair b|c|d e|f: "d e".f = 2',
      'table g: [[g]]',
      'pair g|h: h = 3',
    ]);
  });

  it.each([
    'a = [\n  "]", # ]\n  [1],\n]',
    'a = """\n[x]\n"quoted" \\""" """',
    "a = '''\n[x]\n''''",
    'a = """x"""""',
    "a = 'it\\'",
    'a = { b = "}", c = [1] }',
    '"a]=" = "\\"#"',
  ])('reads a value to its end: %j', (text) => {
    const [first, second] = tomlStatements(`${text} # comment\r\n[next]\r\n`);
    expect([first!.start, first!.end]).toEqual([0, text.length]);
    expect(second).toMatchObject({ kind: 'table', path: ['next'] });
  });

  it('finds headers with quotes and blanks', () => {
    expect(tomlStatements('  [ "a.b" . \'c]\' ]\n')).toMatchObject([{ path: ['a.b', 'c]'], start: 2 }]);
  });
});

describe('placesIn', () => {
  it('counts lines and columns from 1', () => {
    const placeOf = placesIn('ab\r\nc\n');
    expect([0, 1, 4, 5, 6].map(placeOf)).toEqual([
      { line: 1, column: 1 },
      { line: 1, column: 2 },
      { line: 2, column: 1 },
      { line: 2, column: 2 },
      { line: 3, column: 1 },
    ]);
  });
});
