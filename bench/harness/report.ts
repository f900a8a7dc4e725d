import { formatTable } from './table.ts';
import { shown } from './statistics.ts';

/** The result of every bench: tables for readers, and the ratios that can be compared with a baseline. */
export interface BenchReport {
  readonly bench: string;
  /** The command that produces this report again. */
  readonly command: string;
  readonly notes: readonly string[];
  readonly tables: readonly ReportTable[];
  readonly ratios: readonly Ratio[];
  /** All single measurements, for closer inspection. */
  readonly details?: unknown;
}

export interface ReportTable {
  readonly id: string;
  readonly title: string;
  /** Title of the column of labels. */
  readonly of: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
}

export interface Column {
  readonly title: string;
  readonly digits: number;
}

export interface Row {
  readonly label: string;
  /** One value per column; null if it was not measured. */
  readonly values: readonly (number | null)[];
}

/** A ratio of two things that were measured in one run, so that it means the same on another machine. */
export interface Ratio {
  readonly id: string;
  readonly value: number;
  readonly better: 'lower' | 'higher';
  /** The goal. It is only a goal: a comparison does not fail because of it. */
  readonly target?: number;
}

/** JSON has no NaN, so a value that was not measured becomes null here. */
export function row(label: string, values: readonly number[]): Row {
  return { label, values: values.map((value) => (Number.isFinite(value) ? value : null)) };
}

/** Only the ratios that were measured. */
export function ratios(wanted: readonly Ratio[]): Ratio[] {
  return wanted.filter(({ value }) => Number.isFinite(value));
}

/** Whether the ratio meets its target; undefined if it has none. */
function meets({ value, better, target }: Ratio): boolean | undefined {
  if (target === undefined) return undefined;
  return better === 'lower' ? value <= target : value >= target;
}

export function formatReportTable({ of, columns, rows }: ReportTable): string {
  const header = [of, ...columns.map(({ title }) => title)];
  const cells = rows.map(({ label, values }) => [
    label,
    ...values.map((value, index) => shown(value ?? Number.NaN, columns[index]?.digits ?? 0)),
  ]);
  return formatTable(header, cells);
}

export function formatTargets(all: readonly Ratio[]): string | undefined {
  const rows = all.flatMap((ratio) => {
    const met = meets(ratio);
    if (met === undefined) return [];
    const sign = ratio.better === 'lower' ? '≤' : '≥';
    return [[ratio.id, shown(ratio.value, 2), `${sign} ${shown(ratio.target!, 2)}`, met ? 'yes' : 'no']];
  });
  return rows.length === 0 ? undefined : formatTable(['ratio', 'measured', 'target', 'met'], rows);
}

export function formatReport({ notes, tables, ratios: all }: BenchReport): string {
  const parts = tables.map((table) => `${table.title}\n\n${formatReportTable(table)}`);
  const targets = formatTargets(all);
  return [
    ...parts,
    ...(targets === undefined ? [] : [targets]),
    ...(notes.length === 0 ? [] : [notes.join('\n')]),
  ].join('\n\n');
}
