/** `1 warning`, `2 warnings`: a count with its noun, for nouns that take an s. */
export function countNoun(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
