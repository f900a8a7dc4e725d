const MAX_NAME_LENGTH = 129;

/**
 * Number of edits (insert, delete or replace a character, swap two neighbours) from one text to the other, or `bound + 1` if there are more
 * than `bound`.
 * @internal
 */
export function editDistance(a: string, b: string, bound: number): number {
  if (Math.abs(a.length - b.length) > bound) return bound + 1;
  let previous = new Uint16Array(b.length + 2).map((_, index) => index);
  let current = new Uint16Array(b.length + 2);
  let earlier = new Uint16Array(b.length + 2);
  for (let row = 1; row <= a.length; row += 1) {
    // Cells further from the diagonal than the bound cannot give a distance within the bound.
    const from = Math.max(1, row - bound);
    const to = Math.min(b.length, row + bound);
    current[from - 1] = from === 1 ? row : bound + 1;
    let best = current[from - 1]!;
    for (let column = from; column <= to; column += 1) {
      const [left, right] = [a.charCodeAt(row - 1), b.charCodeAt(column - 1)];
      const replaced = previous[column - 1]! + (left === right ? 0 : 1);
      let cost = Math.min(replaced, previous[column]! + 1, current[column - 1]! + 1);
      const swaps = row > 1 && column > 1 && left === b.charCodeAt(column - 2) && a.charCodeAt(row - 2) === right;
      if (swaps) cost = Math.min(cost, earlier[column - 2]! + 1);
      current[column] = cost;
      if (cost < best) best = cost;
    }
    current[to + 1] = bound + 1;
    if (best > bound) return bound + 1;
    [earlier, previous, current] = [previous, current, earlier];
  }
  return Math.min(previous[b.length]!, bound + 1);
}

/** The few known names that a mistyped name was probably meant to be, the nearest first. */
export function nearNames(name: string, known: Iterable<string>, limit = 3): string[] {
  if (name.length > MAX_NAME_LENGTH) return [];
  const wanted = name.toLowerCase();
  const bound = Math.min(3, Math.max(1, Math.floor(wanted.length / 3)));
  const letters = letterSet(wanted);
  const found: { readonly name: string; readonly distance: number }[] = [];
  for (const candidate of known) {
    const folded = candidate.toLowerCase();
    // Cheap check first: one edit changes at most two members of the set of letters.
    if (Math.abs(folded.length - wanted.length) > bound || countBits(letters ^ letterSet(folded)) > 2 * bound) continue;
    const distance = editDistance(wanted, folded, bound);
    if (distance <= bound) found.push({ name: candidate, distance });
  }
  found.sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1));
  // Names that need two more edits than the nearest one are left out: next to a good suggestion they would only confuse.
  return found
    .filter((one) => one.distance <= found[0]!.distance + 1)
    .slice(0, limit)
    .map((one) => one.name);
}

/** Suggests the name that was probably meant, or lists all known names. */
export function suggestName(name: string, known: readonly string[]): string {
  const [near] = nearNames(name, known, 1);
  return near === undefined ? `known: ${known.join(', ')}` : `did you mean "${near}"?`;
}

function letterSet(text: string): number {
  let set = 0;
  for (let index = 0; index < text.length; index += 1) set |= 1 << (text.charCodeAt(index) & 31);
  return set;
}

function countBits(set: number): number {
  let count = 0;
  for (let rest = set >>> 0; rest > 0; rest &= rest - 1) count += 1;
  return count;
}
