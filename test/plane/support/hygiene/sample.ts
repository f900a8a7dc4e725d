/** What was measured at one moment: counts, which have to come back exactly, and sizes, which must not grow. */
export interface Sample {
  readonly counts: Map<string, number>;
  /** The items that were counted, by name. They are reported when there are more of them than before. */
  readonly members: Map<string, string[]>;
  readonly sizes: Map<string, number>;
  count(name: string, number: number, members?: readonly string[]): void;
  measure(name: string, bytes: number): void;
}

export function createSample(): Sample {
  const counts = new Map<string, number>();
  const members = new Map<string, string[]>();
  const sizes = new Map<string, number>();
  return {
    counts,
    members,
    sizes,
    count(name, number, more = []) {
      counts.set(name, (counts.get(name) ?? 0) + number);
      members.set(name, [...(members.get(name) ?? []), ...more]);
    },
    measure: (name, bytes) => void sizes.set(name, bytes),
  };
}
