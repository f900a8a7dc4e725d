import { describe, expect, it } from 'vitest';
import type { BenchReport } from '../harness/report.ts';
import { drawBars } from './bar-plot.ts';
import { drawLines } from './line-plot.ts';
import { plotsOf } from './plots-of.ts';
import { openMarkers, writePage } from './write-page.ts';

const table = (id: string, labels: readonly string[]) => ({
  id,
  title: id,
  of: 'variant',
  columns: [
    { title: 'time', digits: 2 },
    { title: 'CPU', digits: 2 },
  ],
  rows: labels.map((label, index) => ({ label, values: [index + 1, null] })),
});
const report = (bench: string, tables: BenchReport['tables']): BenchReport => ({
  bench,
  command: `npm run bench -- ${bench}`,
  notes: [],
  tables,
  ratios: [],
});

describe('a plot', () => {
  it('has a style for light and dark pages, says in words what it shows, and lets no text become markup', () => {
    const bars = [{ label: 'a<b & "c"', value: 2, own: true }];
    const svg = drawBars({ title: 'T', unit: 'x', bars, mark: 1 });
    expect(svg).toContain('prefers-color-scheme: dark');
    expect(svg).toContain('<desc>a&lt;b &amp; &quot;c&quot; 2.00 (x)</desc>');
    expect(svg).not.toContain('a<b');
  });

  it('of lines leaves out what was not measured', () => {
    const series = [{ label: 's', values: [1, Number.NaN, 3] }];
    const svg = drawLines({ title: 'T', unit: 'x', across: 'n', steps: ['1', '10', '100'], series, band: [0.9, 1.1] });
    expect(svg.match(/<circle/g)).toHaveLength(2);
    expect(svg).not.toContain('NaN');
  });

  it('is made of every table that has one', () => {
    const reports = [
      report('round-trip', [
        table('round-trip-1', ['raw', 'sallyport-read']),
        table('round-trip-128', ['raw', 'sallyport-read']),
      ]),
      report('growth', [table('growth-redis-settled', ['1,000', '10,000'])]),
      report('mcp', [table('mcp-1', ['direct']), table('mcp-16', ['direct'])]),
    ];
    expect([...plotsOf(reports).keys()].sort()).toEqual([
      'growth-settled.svg',
      'in-flight.svg',
      'mcp.svg',
      'round-trip.svg',
    ]);
    expect(plotsOf([]).size).toBe(0);
  });
});

describe('the page', () => {
  const page = 'a\n<!-- bench:mcp -->\nold\n<!-- bench:end -->\nb\n<!-- bench:gate -->\nkept\n<!-- bench:end -->\n';

  it('gets the tables of benches that ran, and keeps those of the others', () => {
    const written = writePage(page, [report('mcp', [table('mcp-1', ['direct'])])], 'Measured on a quiet machine.');
    expect(written).toContain('    npm run bench -- mcp\n\nMeasured on a quiet machine.');
    expect(written).toContain('| direct  | 1.00 |   – |');
    expect(written).not.toContain('old');
    expect(written).toContain('<!-- bench:gate -->\nkept\n<!-- bench:end -->');
    expect(writePage(written, [report('mcp', [table('mcp-1', ['direct'])])], 'Measured on a quiet machine.')).toBe(
      written,
    );
  });

  it('with a marker that has no end is found out', () => {
    expect(openMarkers(page)).toEqual([]);
    expect(openMarkers('<!-- bench:mcp -->\n<!-- bench:gate -->\n<!-- bench:end -->')).toEqual(['mcp']);
  });
});
