export const OTHER = 'other';

/**
 * A label with a limited number of values: the first `max` values are kept, and all others become `other`. A value that is no longer used
 * is kept too, because a counter must not go down.
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
