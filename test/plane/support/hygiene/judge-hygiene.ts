import type { Sample } from './sample.ts';

/** The result of one rest: each count at the sample where it was nearest to the start, each size at the end of the rest. */
export interface Rest {
  readonly atMs: number;
  readonly counts: ReadonlyMap<string, number>;
  readonly members: ReadonlyMap<string, readonly string[]>;
  readonly sizes: ReadonlyMap<string, number>;
}

export interface Row {
  readonly name: string;
  readonly kind: 'count' | 'size';
  readonly start: number;
  readonly middle: number;
  readonly end: number;
  /** The slope by least squares over all rests. */
  readonly slopePerHour: number;
  readonly verdict: 'ok' | 'not judged' | 'left over' | 'missing' | 'grows';
  /** What exists that did not before, or the reason why it is not judged. */
  readonly left: readonly string[];
}

/** These are the deployment itself: fewer of them is as wrong as more. */
const MUST_STAY = /^(processes|redis consumers|redis groups)/;

/**
 * Sizes fluctuate, so medians are compared. The median of the last third of all rests may exceed that of the second third by at most a
 * twentieth or the floor below, whichever is more. The first third is for warming up.
 */
const GROWTH = 0.05;
const FLOORS: readonly (readonly [pattern: RegExp, bytes: number])[] = [
  [/^rss/, 12 * 1024 * 1024],
  [/^heap|^external/, 2 * 1024 * 1024],
  [/./, 1024 * 1024],
];
/** The process of this role is replaced every few rounds. Sizes of new and old processes in turn show nothing about growth. */
const REPLACED = / of worker-[23]$/;
/** With fewer rests a third is a single one, which shows nothing. */
const MIN_RESTS = 6;

/** For each count, the sample of a rest that is at the start's value or nearest to it. */
export function nearest(samples: readonly Sample[], start: ReadonlyMap<string, number>): Omit<Rest, 'atMs'> {
  const names = new Set([...start.keys(), ...samples.flatMap(({ counts }) => [...counts.keys()])]);
  const counts = new Map<string, number>();
  const members = new Map<string, readonly string[]>();
  for (const name of names) {
    const wanted = start.get(name) ?? 0;
    const far = (sample: Sample): number => Math.abs((sample.counts.get(name) ?? 0) - wanted);
    const best = samples.reduce((a, b) => (far(b) < far(a) ? b : a));
    counts.set(name, best.counts.get(name) ?? 0);
    members.set(name, best.members.get(name) ?? []);
  }
  return { counts, members, sizes: samples.at(-1)!.sizes };
}

/** The minimum of each count over a rest: what comes and goes by itself is not part of the start. */
export function startOf(samples: readonly Sample[]): ReadonlyMap<string, number> {
  const names = new Set(samples.flatMap(({ counts }) => [...counts.keys()]));
  return new Map([...names].map((name) => [name, Math.min(...samples.map(({ counts }) => counts.get(name) ?? 0))]));
}

export function judgeHygiene(rests: readonly Rest[]): Row[] {
  const first = rests[0]!;
  const last = rests.at(-1)!;
  const names = (of: (rest: Rest) => ReadonlyMap<string, unknown>): string[] =>
    [...new Set(rests.flatMap((rest) => [...of(rest).keys()]))].sort();
  const counts = names((rest) => rest.counts).map((name): Row => {
    const values = rests.map((rest) => rest.counts.get(name) ?? 0);
    const [start, end] = [values[0]!, values.at(-1)!];
    const isMissing = end < start && MUST_STAY.test(name);
    const verdict = end > start ? 'left over' : isMissing ? 'missing' : 'ok';
    const before = first.members.get(name) ?? [];
    const after = last.members.get(name) ?? [];
    const left = verdict === 'left over' ? without(after, before) : verdict === 'missing' ? without(before, after) : [];
    return { name, kind: 'count', ...shape(rests, values), verdict, left };
  });
  const sizes = names((rest) => rest.sizes).map((name): Row => {
    const values = rests.map((rest) => rest.sizes.get(name) ?? 0);
    return { name, kind: 'size', ...shape(rests, values), ...judgeGrowth(name, values) };
  });
  return [...counts, ...sizes];
}

function judgeGrowth(name: string, values: readonly number[]): Pick<Row, 'verdict' | 'left'> {
  if (REPLACED.test(name)) return { verdict: 'not judged', left: ['its process is replaced all the time'] };
  if (values.length < MIN_RESTS) return { verdict: 'not judged', left: [`needs ${MIN_RESTS} rests`] };
  const third = Math.floor(values.length / 3);
  const second = median(values.slice(third, values.length - third));
  const end = median(values.slice(-third));
  const floor = FLOORS.find(([pattern]) => pattern.test(name))![1];
  const most = second + Math.max(floor, second * GROWTH);
  if (end <= most) return { verdict: 'ok', left: [] };
  return {
    verdict: 'grows',
    left: [`median of the second third ${second}, of the last ${end}, at most ${Math.round(most)}`],
  };
}

function shape(
  rests: readonly Rest[],
  values: readonly number[],
): Pick<Row, 'start' | 'middle' | 'end' | 'slopePerHour'> {
  const slopePerHour = slope(
    rests.map(({ atMs }) => atMs / 3_600_000),
    values,
  );
  return { start: values[0]!, middle: values[Math.floor(values.length / 2)]!, end: values.at(-1)!, slopePerHour };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

function slope(at: readonly number[], values: readonly number[]): number {
  const mean = (list: readonly number[]): number => list.reduce((sum, each) => sum + each, 0) / list.length;
  const [x, y] = [mean(at), mean(values)];
  const spread = at.reduce((sum, each) => sum + (each - x) ** 2, 0);
  return spread === 0 ? 0 : at.reduce((sum, each, index) => sum + (each - x) * (values[index]! - y), 0) / spread;
}

/**
 * Subtracts lists: an item that occurs twice has to be subtracted twice. Names that change with every process match nothing, so all of
 * them are reported.
 */
function without(all: readonly string[], known: readonly string[]): string[] {
  const left = [...all];
  for (const each of known) {
    const index = left.indexOf(each);
    if (index >= 0) left.splice(index, 1);
  }
  return left;
}

const MAX_SHOWN = 12;

/** Output for people: what failed with what is left, all sizes, and one line for each family of counts. */
export function printRows(rows: readonly Row[]): string {
  const wrong = rows.filter(({ verdict }) => !['ok', 'not judged'].includes(verdict));
  const families = new Map<string, Row[]>();
  for (const row of rows.filter(({ kind }) => kind === 'count')) {
    const name = row.name.split(':')[0]!;
    families.set(name, [...(families.get(name) ?? []), row]);
  }
  const summed = [...families].map(([name, family]): Row => {
    const sum = (of: (row: Row) => number): number => family.reduce((total, row) => total + of(row), 0);
    const verdict = family.find((row) => wrong.includes(row))?.verdict ?? 'ok';
    const totals = { start: sum((row) => row.start), middle: sum((row) => row.middle), end: sum((row) => row.end) };
    return { name, kind: 'count', ...totals, slopePerHour: sum((row) => row.slopePerHour), verdict, left: [] };
  });
  const shown = [...summed, ...rows.filter(({ kind }) => kind === 'size')];
  const lines = [['quantity', 'start', 'middle', 'end', 'per hour', 'verdict'], ...shown.map(toCells)];
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  const table = lines.map((line) =>
    line
      .map((cell, column) =>
        column === 0 || column === 5 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
      )
      .join('  ')
      .trimEnd(),
  );
  const told = wrong.map((row) => {
    const [name, start, middle, end, perHour, verdict] = toCells(row);
    const more = row.left.length > MAX_SHOWN ? [`… and ${row.left.length - MAX_SHOWN} more`] : [];
    const members = [...row.left.slice(0, MAX_SHOWN), ...more].map((each) => `    ${each}`);
    return [`${verdict}: ${name}: ${start}, ${middle}, ${end}; ${perHour} per hour`, ...members].join('\n');
  });
  return [...table, '', ...told].join('\n');
}

function toCells({ name, kind, start, middle, end, slopePerHour, verdict }: Row): string[] {
  const show =
    kind === 'count'
      ? (value: number) => String(Math.round(value * 10) / 10)
      : (value: number) => `${(value / 1024 / 1024).toFixed(2)} MB`;
  return [name, show(start), show(middle), show(end), show(slopePerHour), verdict];
}
