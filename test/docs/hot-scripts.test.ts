import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CallId } from '../../src/domain/identity/ids.ts';
import { decodeCall } from '../../src/stores/redis/call-codec.ts';
import { readFunctions } from '../../src/stores/redis/function-library.ts';
import { readPages, TOP } from './pages.ts';

const page = readPages().find(({ path }) => path === 'docs/hot-scripts.md')!.text;
const sourceOf = (name: string): string => readFileSync(join(TOP, `src/stores/redis/functions/${name}.lua`), 'utf8');

/** The cells of each table with these headings, without the backticks around a whole cell. */
function tablesOf(text: string, ...headings: string[]): string[][][] {
  const head = `| ${headings.join(' | ')} |\n`;
  return text
    .split(head)
    .slice(1)
    .map((rest) => {
      const lines = rest.split('\n').slice(1);
      const rows = lines.slice(
        0,
        lines.findIndex((line) => !line.startsWith('|')),
      );
      return rows.map((row) =>
        row
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim().replace(/^`([^`]*)`$/, '$1')),
      );
    });
}
const codesIn = (cell: string): string[] => cell.replaceAll('`', '').split(', ');
/** The first words of the indented lines of a comment that describe fields: `name  meaning`. */
const described = (lines: string): string[] =>
  [...lines.matchAll(/^ {4}((?:\w+, )*\w+) {2,}\S/gm)].flatMap(([, names]) => names!.split(', '));

describe('the record of a call on docs/hot-scripts.md', () => {
  const code = sourceOf('shared/record');
  const fields = tablesOf(page, '#', 'field', 'packed', 'example', 'what it is')[0]!;
  const names = fields.map(([, name]) => name!);
  const [ofFields, ofExtras] = code.split('accept_calls writes all of them');

  it('has the fields of record.lua, in order', () => {
    expect(names).toStrictEqual(described(ofFields!));
    expect(names).toHaveLength(15);
  });

  it('packs them as record.lua does', () => {
    expect(/local PACKED = '<(.+)'/.exec(code)![1]).toBe(fields.map(([, , packed]) => packed).join(''));
    const front = /local PACKED_FRONT = '<(.+)'/.exec(code)![1];
    const read = Number(/read only the first (\d+)\./.exec(page)![1]);
    expect(front).toBe(
      fields
        .slice(0, read)
        .map(([, , packed]) => packed)
        .join(''),
    );
  });

  it('numbers them as the constants of record.lua do', () => {
    const constants = new Map<string, number>([['VERSION', 1]]);
    for (const [, left, right] of code.matchAll(/^local ([A-Z_, ]+) = ([\d, ]+)$/gm)) {
      const numbers = right!.split(', ').map(Number);
      left!.split(', ').forEach((name, at) => constants.set(name, numbers[at]!));
    }
    const numbered = fields.map(([number, name]) => [name, Number(number)]);
    expect(numbered).toStrictEqual(names.map((name) => [name, constants.get(name.toUpperCase())]));
  });

  it('is drawn as the table says', () => {
    const [, drawing] = /```text\n([^]*?)```/.exec(page)!;
    const boxes = drawing!
      .split('\n')
      .filter((line) => line.startsWith('│'))
      .map((line) =>
        line
          .split('│')
          .slice(1, -1)
          .map((box) => box.trim()),
      );
    const [fixed, packed, rest] = boxes as [string[], string[], string[]];
    expect(fixed.map((name, at) => [name, packed[at]])).toStrictEqual(
      fields.slice(0, fixed.length).map(([, name, as]) => [name, as]),
    );
    const lengths: Readonly<Record<string, string>> = { Bc0: 'n', Hc0: 'nn', I4c0: 'nnnn' };
    expect(rest).toStrictEqual(fields.slice(fixed.length).flatMap(([, name, as]) => [lengths[as!], name]));
    const offsets = /^byte ([\d ]+)$/m.exec(drawing!)![1]!.split(/ +/).map(Number);
    const ends = packed.map((as) => Number(as.slice(1)));
    expect(offsets).toStrictEqual([0, ...ends.map((_, at) => ends.slice(0, at + 1).reduce((sum, size) => sum + size))]);
  });

  it('is read by the codec: the example is a call', () => {
    const bytes = Buffer.concat(fields.map(([, , packed, example]) => pack(packed!, example!.replaceAll('⏎', '\n'))));
    expect(decodeCall('0.D-jf948DOZ6J.k1' as CallId, bytes)).toStrictEqual({
      callId: '0.D-jf948DOZ6J.k1',
      state: 'running',
      tool: 'files.write',
      pool: 'main',
      bodyDigest: fields.at(-1)![3],
      session: '0.D-jf948DOZ6J.s1',
      run: 'run-1',
      identity: { tenant: 'acme', subject: 'ann', agent: 'helper' },
      acceptedAt: 1763571987000,
      deadline: 1763575587000,
      starts: 1,
      cancelRequested: false,
      waiters: 2,
      effect: 'unsafe',
    });
  });

  it('has the extras of record.lua', () => {
    const [extras] = tablesOf(page, 'extra', 'written by');
    expect(extras!.flatMap(([cell]) => codesIn(cell!)).sort()).toStrictEqual(described(ofExtras!).sort());
  });

  it('has the lines of ending.lua, in order', () => {
    const [lines] = tablesOf(page, 'line', 'what it is');
    expect(lines!.flatMap(([cell]) => codesIn(cell!))).toStrictEqual(described(sourceOf('shared/ending')));
  });
});

function pack(packed: string, value: string): Buffer {
  const text = Buffer.from(value);
  if (packed === 'c1') return text;
  const number = Buffer.alloc(4);
  number.writeUInt32LE(packed === 'I4' ? Number(value) : text.length);
  if (packed === 'I4') return number;
  const lengthBytes = { Bc0: 1, Hc0: 2, I4c0: 4 }[packed]!;
  return Buffer.concat([number.subarray(0, lengthBytes), text]);
}

describe('the scripts on docs/hot-scripts.md', () => {
  const sectionOf = (heading: string): string => page.split(`\n## ${heading}\n`)[1]!.split('\n## ')[0]!;
  const [ofSettle] = tablesOf(sectionOf('settle'), 'in the code', 'what it does', 'why here');
  const [ofSettlement] = tablesOf(sectionOf('settle'), 'in the code', 'what it writes', 'why here');
  const stepsOf = (heading: string) => tablesOf(sectionOf(heading), 'in the code', 'what it does', 'why here')[0]!;
  const settlement = sourceOf('shared/settlement');
  const writing = settlement.slice(settlement.indexOf('\nfunction write_settlement('));

  it.each([
    ['accept', stepsOf('accept'), sourceOf('accept-calls')],
    ['start', stepsOf('start'), sourceOf('start-calls')],
    ['settle', ofSettle!, sourceOf('settle-calls')],
    ['settlement', ofSettlement!, writing],
  ])('do what the code does, in its order: %s', (_, steps, source) => {
    const code = source.replace(/^--\[\[[^]*?\]\]/, '');
    let from = 0;
    const outOfOrder = steps.filter(([text]) => {
      const at = code.indexOf(text!, from);
      if (at !== -1) from = at;
      return at === -1;
    });
    expect(outOfOrder).toStrictEqual([]);
    expect(steps.length).toBeGreaterThan(6);
  });

  it('have the answers of their headers', () => {
    const [answers] = tablesOf(page, 'script', 'answers');
    const functions = readFunctions();
    const expected = ['accept', 'start', 'settle'].map((name) => [
      name,
      functions.get(`${name}_calls`)!.returns.join(', '),
    ]);
    expect(answers).toStrictEqual(expected);
  });
});
