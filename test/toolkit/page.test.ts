import { describe, expect, it } from 'vitest';
import { EFFECTS } from '../../src/domain/tool/tool.ts';
import { toMcp, toolName } from '../../src/exports/toolkit.ts';
import { readPages } from '../docs/pages.ts';
import { samplePublished } from '../support/sample-call.ts';

const { text } = readPages().find(({ path }) => path === 'docs/toolkits.md')!;
const rowsUnder = (head: string): string[][] =>
  new RegExp(`^\\| ${head} .*\\n\\|[-|]+\\n((?:\\|.*\\n)+)`, 'm')
    .exec(text)![1]!
    .trim()
    .split('\n')
    .map((row) => row.split('|').map((cell) => cell.trim().replaceAll('`', '')))
    .map((cells) => cells.slice(1, -1));

describe('docs/toolkits.md', () => {
  it('shows the names that ids have', () => {
    const rows = rowsUnder('id');
    expect(rows).toStrictEqual(rows.map(([id]) => [id, toolName(id!)]));
    expect(rows.length).toBeGreaterThan(2);
  });

  it('shows the hints that effects give', () => {
    const hints = EFFECTS.map((effect) => toMcp([samplePublished({ effect })])[0]!.annotations);
    const names = ['readOnlyHint', 'destructiveHint', 'idempotentHint'] as const;
    expect(rowsUnder('annotation')).toStrictEqual(names.map((name) => [name, ...hints.map((hint) => `${hint[name]}`)]));
  });
});
