import { describe, expect, it } from 'vitest';
import { asReport, problemsOfReport } from './check-report.ts';
import { formatReport, formatTargets, ratios, row, type BenchReport } from './report.ts';

const REPORT: BenchReport = {
  bench: 'sample',
  command: 'npm run bench -- sample',
  notes: ['two runs'],
  tables: [
    {
      id: 'sample',
      title: 'A sample',
      of: 'variant',
      columns: [
        { title: 'time / raw', digits: 2 },
        { title: 'calls/s', digits: 0 },
      ],
      rows: [row('raw', [1, 12_345.6]), row('ours', [1.234, Number.NaN])],
    },
  ],
  ratios: [{ id: 'sample/ours/time', value: 1.234, better: 'lower', target: 1.2 }],
};
const changed = (change: object): unknown => ({ ...REPORT, ...change });

describe('a report of a bench', () => {
  it('survives being written as JSON and read again', () => {
    expect(asReport(JSON.parse(JSON.stringify(REPORT)))).toEqual(REPORT);
  });

  it('is refused without tables, with a row that does not fit, without any figure, or with a ratio that is none', () => {
    const [table] = REPORT.tables;
    const withRows = (rows: unknown): unknown => changed({ tables: [{ ...table, rows }] });
    for (const bad of [
      'text',
      changed({ bench: '' }),
      changed({ tables: [] }),
      withRows([]),
      withRows([{ label: 'ours', values: [1] }]),
      withRows([{ label: 'ours', values: [null, null] }]),
      withRows([{ label: 'ours', values: ['1', 2] }]),
      changed({ ratios: [{ id: 'sample/time', value: null, better: 'lower' }] }),
      changed({ ratios: [{ id: 'sample/time', value: 1, better: 'much' }] }),
      changed({ ratios: [...REPORT.ratios, ...REPORT.ratios] }),
    ]) {
      expect(problemsOfReport(bad)).toHaveLength(1);
      expect(() => asReport(bad)).toThrow('This is no report of a bench');
    }
  });

  it('is shown with a dash for what was not measured, and with targets met or missed', () => {
    const shown = formatReport(REPORT);
    expect(shown).toContain('| raw     |       1.00 |  12,346 |');
    expect(shown).toContain('| ours    |       1.23 |       – |');
    expect(shown).toContain('| sample/ours/time |     1.23 | ≤ 1.20 |  no |');
    expect(formatTargets([{ id: 'a/b', value: 5, better: 'higher', target: 5 }])).toContain('yes');
    expect(formatTargets([{ id: 'a/b', value: 5, better: 'higher' }])).toBeUndefined();
  });

  it('keeps only ratios that were measured', () => {
    const unmeasured = { id: 'sample/none', value: Number.NaN, better: 'lower' } as const;
    expect(ratios([...REPORT.ratios, unmeasured])).toEqual(REPORT.ratios);
  });
});
