export const OTHER = 'other';

/**
 * A label with a limited number of values: the first `most` values are kept, and all others share one. A value that is no longer used
 * keeps its place, because a counter must not go down.
 */
export function boundedLabel(max: number): (value: string | undefined) => string {
  const known = new Set<string>();
  return (value) => {
    if (value === undefined) return OTHER;
    if (known.has(value)) return value;
    if (known.size >= max) return OTHER;
    known.add(value);
    return value;
  };
}
