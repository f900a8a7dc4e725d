export const OTHER = 'other';

/**
 * A label with a bounded number of values: the first so many have their own, all others share one. A value that is gone keeps its place,
 * because a counter must not go back.
 */
export function boundedLabel(most: number): (value: string | undefined) => string {
  const known = new Set<string>();
  return (value) => {
    if (value === undefined) return OTHER;
    if (known.has(value)) return value;
    if (known.size >= most) return OTHER;
    known.add(value);
    return value;
  };
}
