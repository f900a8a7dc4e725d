import type { BenchReport } from './report.ts';

type Unknowns = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is Unknowns =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Explains why the value is not a report of a bench; empty if it is one. Files may be edited by people or come from other releases. */
export function problemsOfReport(value: unknown): string[] {
  if (!isRecord(value)) return ['it is no object'];
  const problems: string[] = [];
  for (const name of ['bench', 'command']) if (!isText(value[name])) problems.push(`${name} is no text`);
  const { notes, tables, ratios } = value;
  if (!Array.isArray(notes) || !notes.every(isText)) problems.push('notes are no list of texts');
  if (!Array.isArray(tables) || tables.length === 0) problems.push('it has no tables');
  else problems.push(...tables.flatMap((table, index) => problemsOfTable(table, index)));
  if (!Array.isArray(ratios)) problems.push('it has no list of ratios');
  else problems.push(...problemsOfRatios(ratios));
  return problems;
}

function problemsOfTable(table: unknown, index: number): string[] {
  const name = `tables[${index}]`;
  if (!isRecord(table)) return [`${name} is no object`];
  const { id, title, of, columns, rows } = table;
  if (![id, title, of].every(isText)) return [`${name} lacks a name`];
  if (!Array.isArray(columns) || !columns.every((one) => isRecord(one) && isText(one['title'])))
    return [`${name} has no columns`];
  if (!Array.isArray(rows) || rows.length === 0) return [`${name} has no rows`];
  return rows.flatMap((one: unknown, at) => {
    const values = isRecord(one) && isText(one['label']) ? one['values'] : undefined;
    if (!Array.isArray(values) || values.length !== columns.length)
      return [`${name}.rows[${at}] does not fit its columns`];
    if (values.every((figure) => figure === null)) return [`${name}.rows[${at}] has no figure`];
    return values.every((figure) => figure === null || Number.isFinite(figure))
      ? []
      : [`${name}.rows[${at}] has something that is no number`];
  });
}

function problemsOfRatios(all: readonly unknown[]): string[] {
  const seen = new Set<string>();
  return all.flatMap((one, at) => {
    if (!isRecord(one) || !isText(one['id'])) return [`ratios[${at}] has no id`];
    const { id, value, better } = one;
    const twice = seen.has(id as string);
    seen.add(id as string);
    if (twice) return [`the ratio ${String(id)} is there twice`];
    if (!(typeof value === 'number' && Number.isFinite(value) && value > 0))
      return [`the ratio ${String(id)} is no number above 0`];
    return better === 'lower' || better === 'higher' ? [] : [`the ratio ${String(id)} does not say what is better`];
  });
}

export function asReport(value: unknown): BenchReport {
  const problems = problemsOfReport(value);
  if (problems.length > 0) throw new Error(`This is no report of a bench: ${problems.slice(0, 3).join('; ')}.`);
  return value as BenchReport;
}
