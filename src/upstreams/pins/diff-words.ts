/** Equal tokens of two lists, or tokens of one list in place of tokens of the other. The ends are exclusive. */
export interface Run {
  readonly isKept: boolean;
  readonly before: readonly [start: number, end: number];
  readonly after: readonly [start: number, end: number];
}

/** Counts the work of a comparison. The texts come from a stranger, who may choose them so that a comparison takes longest. */
export interface DiffSteps {
  /** All steps so far. */
  spent: number;
  /** Remaining steps of searches for the shortest difference. At 0 the searches end, and lists are shown as replaced. */
  searchesLeft: number;
}

/** Enough for a few hundred scattered changes in a text of 256 KiB. @internal */
export const MAX_SEARCH_STEPS = 2_000_000;
/** Bounds the memory of a search, which grows with the square of the number of edits. */
const MAX_EDITS = 1000;

export function newSteps(): DiffSteps {
  return { spent: 0, searchesLeft: MAX_SEARCH_STEPS };
}

const segmenter = new Intl.Segmenter('en', { granularity: 'word' });

/** The words of a text, and what is between them. Joined, they are the text. */
export function splitWords(text: string): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/**
 * The difference of two lists of words. Takes time in proportion to their lengths, plus at most the remaining steps of `steps`: when these
 * are used up, everything between the equal beginning and the equal end is one run.
 */
export function diffLists(before: readonly string[], after: readonly string[], steps: DiffSteps): Run[] {
  const numbers = new Map<string, number>();
  const numberOf = (word: string): number => {
    steps.spent += 1;
    const known = numbers.get(word) ?? numbers.size;
    numbers.set(word, known);
    return known;
  };
  const [a, b] = [Int32Array.from(before, numberOf), Int32Array.from(after, numberOf)];
  let start = 0;
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  steps.spent += start + end;
  const middle = keptInMiddle(a.subarray(start, a.length - end), b.subarray(start, b.length - end), steps);
  const kept = [
    { before: 0, after: 0, length: start },
    ...middle.map((each) => ({ ...each, before: each.before + start, after: each.after + start })),
    { before: a.length - end, after: b.length - end, length: end },
  ];
  return toRuns(kept, a.length, b.length);
}

interface Kept {
  readonly before: number;
  readonly after: number;
  readonly length: number;
}

/**
 * Myers' algorithm: after `d` edits, `furthest[k]` is how far the best path on the diagonal `k` (position in `a` minus position in `b`) has
 * come in `a`. The state before each round is kept, to find the way back.
 */
function keptInMiddle(a: Int32Array, b: Int32Array, steps: DiffSteps): Kept[] {
  if (a.length === 0 || b.length === 0 || steps.searchesLeft <= 0) return [];
  const maxEdits = Math.min(a.length + b.length, MAX_EDITS);
  const zero = maxEdits + 1;
  const furthest = new Int32Array(2 * maxEdits + 3);
  const rounds: Int32Array[] = [];
  for (let edits = 0; edits <= maxEdits; edits += 1) {
    rounds.push(furthest.slice(zero - edits - 1, zero + edits + 2));
    for (let k = -edits; k <= edits; k += 2) {
      const isDown = k === -edits || (k !== edits && furthest[zero + k - 1]! < furthest[zero + k + 1]!);
      let x = isDown ? furthest[zero + k + 1]! : furthest[zero + k - 1]! + 1;
      const from = x;
      const stop = from + steps.searchesLeft - 1;
      while (x < stop && x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      furthest[zero + k] = x;
      steps.spent += 1 + x - from;
      steps.searchesLeft -= 1 + x - from;
      if (x >= a.length && x - k >= b.length) return findWayBack(rounds, a.length, b.length);
      if (steps.searchesLeft === 0) return [];
    }
  }
  return [];
}

function findWayBack(rounds: readonly Int32Array[], beforeLength: number, afterLength: number): Kept[] {
  const kept: Kept[] = [];
  let [x, y] = [beforeLength, afterLength];
  for (let edits = rounds.length - 1; edits >= 0; edits -= 1) {
    const furthest = rounds[edits]!;
    const zero = edits + 1;
    const k = x - y;
    const isDown = k === -edits || (k !== edits && furthest[zero + k - 1]! < furthest[zero + k + 1]!);
    const previousK = isDown ? k + 1 : k - 1;
    const previousX = edits === 0 ? 0 : furthest[zero + previousK]!;
    const previousY = edits === 0 ? 0 : previousX - previousK;
    const length = Math.min(x - previousX, y - previousY);
    if (length > 0) kept.push({ before: x - length, after: y - length, length });
    [x, y] = [previousX, previousY];
  }
  return kept.toReversed();
}

function toRuns(kept: readonly Kept[], beforeLength: number, afterLength: number): Run[] {
  const runs: Run[] = [];
  let [x, y] = [0, 0];
  for (const each of [...kept, { before: beforeLength, after: afterLength, length: 0 }]) {
    if (x < each.before || y < each.after) {
      runs.push({ isKept: false, before: [x, each.before], after: [y, each.after] });
    }
    [x, y] = [each.before + each.length, each.after + each.length];
    if (each.length > 0) runs.push({ isKept: true, before: [each.before, x], after: [each.after, y] });
  }
  return runs;
}

/** A part of a text that is shown with its differences. */
export interface Segment {
  readonly kind: 'kept' | 'removed' | 'added';
  readonly words: readonly string[];
}

/**
 * The difference of two lists of words as segments: those that are kept or removed are the first list, those that are kept or added the
 * second. Blanks alone between two changes count as changed, because `[-a b-]{+x y+}` reads better than four changes.
 */
export function diffWords(before: readonly string[], after: readonly string[], steps: DiffSteps): Segment[] {
  const segments: Segment[] = [];
  for (const run of joinAcrossBlanks(diffLists(before, after, steps), before)) {
    const [removed, added] = [before.slice(...run.before), after.slice(...run.after)];
    if (run.isKept) segments.push({ kind: 'kept', words: removed });
    if (!run.isKept && removed.length > 0) segments.push({ kind: 'removed', words: removed });
    if (!run.isKept && added.length > 0) segments.push({ kind: 'added', words: added });
  }
  return segments;
}

function joinAcrossBlanks(runs: readonly Run[], before: readonly string[]): Run[] {
  const joined: Run[] = [];
  for (const [index, run] of runs.entries()) {
    const isInside = index > 0 && index < runs.length - 1;
    const isBlank = run.isKept && isInside && before.slice(...run.before).every((word) => word.trim() === '');
    const current = isBlank ? { ...run, isKept: false } : run;
    const last = joined.at(-1);
    if (last === undefined || last.isKept || current.isKept) joined.push(current);
    else {
      joined[joined.length - 1] = {
        isKept: false,
        before: [last.before[0], current.before[1]],
        after: [last.after[0], current.after[1]],
      };
    }
  }
  return joined;
}
