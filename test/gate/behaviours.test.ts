import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const PAGE = 'docs/decisions/2026-11-15-gate-behaviours.md';
const BEHAVIOURS = 73;

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

interface Row {
  readonly number: number;
  readonly verdict: string;
  readonly tests: readonly { readonly file: string; readonly title: string }[];
}

function readRows(page: string): Row[] {
  return [...page.matchAll(/^\| *(\d+) \|(.*)\|$/gm)].map(([, number, cells]) => {
    const [, verdict = '', tests = ''] = cells!.split('|').map((cell) => cell.trim());
    const named = tests.split('<br>').map((test) => /^`([^`]+)` (.+)$/.exec(test.trim()));
    return { number: Number(number), verdict, tests: named.map((found) => ({ file: found![1]!, title: found![2]! })) };
  });
}

/** The text before the title of a test: `it(`, `test(`, or the table of an `each`. */
const BEGINS_TEST = /(?:\b(?:it|test)(?:\.each<.*>)?|\]\)|\]\s+as const\)|\.each\([^()]*(?:\([^()]*\))?[^()]*\))\(\s*$/;
const LEFT_OUT = /\b(?:describe|it|test)\.(?:skip|skipIf|runIf|todo|only|fails)\b/;

function isTested({ file, title }: Row['tests'][number]): boolean {
  const text = read(file);
  if (LEFT_OUT.test(text)) return false;
  return ["'", '"', '`'].some((quote) => {
    const at = text.indexOf(`${quote}${title}${quote},`);
    return at >= 0 && BEGINS_TEST.test(text.slice(0, at));
  });
}

describe('the behaviours of the gate that this one replaces', () => {
  const page = read(PAGE);
  const rows = readRows(page);

  it('are all there, in order, and counted', () => {
    expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: BEHAVIOURS }, (_, index) => index + 1));
    const kept = rows.filter(({ verdict }) => verdict === 'kept').length;
    expect(page).toContain(`**${kept} kept, ${BEHAVIOURS - kept} replaced.**`);
  });

  it('are kept, or say which rule replaces them', () => {
    const unnamed = rows.filter(
      ({ verdict }) => verdict !== 'kept' && !/^[A-Z][^.]{20,}\.$/.test(verdict.replaceAll('`module.tool`', '')),
    );
    expect(unnamed).toEqual([]);
  });

  it('are shown by tests that are there under these titles, and are not skipped', () => {
    const missing = rows.flatMap(({ number, tests }) =>
      tests.filter((test) => !isTested(test)).map(({ file, title }) => `${number}: ${file} "${title}"`),
    );
    expect(missing).toEqual([]);
  });
});
