import type { Comparison } from '../../../src/domain/policy/rule.ts';

interface ComparisonField {
  readonly title: string;
  readonly hint: string;
  /** How the text in the form is parsed: as it is, as JSON, or as a list separated by commas. */
  readonly reads: 'text' | 'json' | 'list';
}

/** The comparisons that a condition may use, and how the value of each is written in the form. */
export const COMPARISONS: Readonly<Record<Comparison, ComparisonField>> = {
  equals: { title: 'is', hint: 'JSON, or plain text', reads: 'json' },
  in: { title: 'is one of', hint: 'JSON list, or words separated by commas', reads: 'list' },
  prefix: { title: 'starts with', hint: 'text', reads: 'text' },
  glob: { title: 'matches the glob', hint: 'reports/*.pdf', reads: 'text' },
  pattern: { title: 'matches the expression', hint: 'RE2', reads: 'text' },
  range: { title: 'is between', hint: '{"min": 1, "max": 100}', reads: 'json' },
  length: { title: 'has a length between', hint: '{"max": 100}', reads: 'json' },
  host: { title: 'is a URL of host', hint: 'example.com, *.example.com', reads: 'list' },
  root: { title: 'is a path below', hint: '/srv/reports', reads: 'list' },
  exists: { title: 'exists', hint: 'true or false', reads: 'json' },
};

export interface ConditionRow {
  readonly at: string;
  readonly comparison: Comparison;
  readonly value: string;
}

/** The condition in the form that the API takes. Only the gateway decides whether it is valid. */
export function toCondition({ at, comparison, value }: ConditionRow): Record<string, unknown> {
  return { at, [comparison]: readValue(comparison, value) };
}

function readValue(comparison: Comparison, value: string): unknown {
  const { reads } = COMPARISONS[comparison];
  if (reads === 'text') return value;
  const parsed = readJson(value);
  if (reads === 'json') return parsed;
  return Array.isArray(parsed) ? parsed : value.split(',').map((entry) => entry.trim());
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The rows that the form starts with: for each member of the asked arguments, its JSON pointer and its value. */
export function pointersOf(shown: string): readonly ConditionRow[] {
  const value = readJson(shown);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.entries(value).map(([name, member]) => ({
    at: `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
    comparison: 'equals',
    value: typeof member === 'string' && readJson(member) === member ? member : JSON.stringify(member),
  }));
}

/** Assigns problems to the rows of conditions, and returns the others as `rest`. `2.at: expected …` is about the third row. */
export function placeProblems(problems: readonly string[]): {
  readonly byRow: ReadonlyMap<number, string>;
  readonly rest: readonly string[];
} {
  const byRow = new Map<number, string>();
  const rest: string[] = [];
  for (const problem of problems) {
    const found = /^(?:json\.grant\.matches\.conditions\.)?(\d+)(?:\.[^:]*)?: (.*)$/su.exec(problem);
    if (found === null) rest.push(problem);
    else byRow.set(Number(found[1]), [byRow.get(Number(found[1])), found[2]!].filter(Boolean).join('; '));
  }
  return { byRow, rest };
}
