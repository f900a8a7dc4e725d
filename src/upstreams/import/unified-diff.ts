const CONTEXT = 3;
/** Above this many pairs of lines, the changed part is shown as a whole instead of being compared line by line. */
const MAX_PAIRS = 4_000_000;

type Step = readonly [mark: ' ' | '-' | '+', line: string];

/** The difference of two texts in the format of `diff -u`; empty if they are equal. */
export function unifiedDiff(from: string, to: string, names: { readonly from: string; readonly to: string }): string {
  if (from === to) return '';
  const steps = compareLines(linesOf(from), linesOf(to));
  const lines = [`--- ${names.from}`, `+++ ${names.to}`];
  for (const [start, end] of hunksOf(steps)) {
    const before = steps.slice(0, start);
    const inside = steps.slice(start, end);
    const span = (mark: '-' | '+'): string => {
      const count = (part: readonly Step[]): number => part.filter(([each]) => each === ' ' || each === mark).length;
      const length = count(inside);
      return `${mark}${count(before) + (length === 0 ? 0 : 1)},${length}`;
    };
    lines.push(`@@ ${span('-')} ${span('+')} @@`, ...inside.map(([mark, line]) => `${mark}${line}`));
  }
  return lines.join('\n');
}

/** Lines without their ends. Texts that differ only in line ends or in the last one show it. */
function linesOf(text: string): string[] {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, '\\r'));
  if (lines.at(-1) === '') lines.pop();
  else lines.push('\\ No newline at end of file');
  return lines;
}

function compareLines(from: readonly string[], to: readonly string[]): Step[] {
  let start = 0;
  while (start < from.length && start < to.length && from[start] === to[start]) start += 1;
  let end = 0;
  const shorter = Math.min(from.length, to.length) - start;
  while (end < shorter && from.at(-1 - end) === to.at(-1 - end)) end += 1;
  const [a, b] = [from.slice(start, from.length - end), to.slice(start, to.length - end)];
  const keep = (lines: readonly string[]): Step[] => lines.map((line) => [' ', line] as const);
  return [...keep(from.slice(0, start)), ...compareMiddle(a, b), ...keep(from.slice(from.length - end))];
}

function compareMiddle(a: readonly string[], b: readonly string[]): Step[] {
  const [removed, added] = [a.map((line) => ['-', line] as const), b.map((line) => ['+', line] as const)];
  if (a.length * b.length === 0 || a.length * b.length > MAX_PAIRS) return [...removed, ...added];
  // The length of the longest common subsequence of the rests from each pair of lines.
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const [below, right] = [lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!];
      lengths[i * width + j] = a[i] === b[j] ? lengths[(i + 1) * width + j + 1]! + 1 : Math.max(below, right);
    }
  }
  const steps: Step[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      steps.push([' ', a[i]!]);
      i += 1;
      j += 1;
    } else if (lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!) steps.push(removed[i++]!);
    else steps.push(added[j++]!);
  }
  return [...steps, ...removed.slice(i), ...added.slice(j)];
}

/** Groups changes with the lines around them; groups that touch are one. */
function hunksOf(steps: readonly Step[]): (readonly [start: number, end: number])[] {
  const hunks: [number, number][] = [];
  for (const [index, [mark]] of steps.entries()) {
    if (mark === ' ') continue;
    const [start, end] = [Math.max(0, index - CONTEXT), Math.min(steps.length, index + CONTEXT + 1)];
    const last = hunks.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = end;
    else hunks.push([start, end]);
  }
  return hunks;
}
