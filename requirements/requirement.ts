/** A test, by its file and a part of its full title. */
export interface TestReference {
  readonly file: string;
  readonly title: string;
}

/** Something that has to work, in one sentence, with what shows that it does. */
export type Requirement = ProvenRequirement | LaterRequirement;

export interface ProvenRequirement {
  readonly id: string;
  readonly says: string;
  readonly tests: readonly TestReference[];
  /** Ids of known bugs (mutants/): each turns at least one of the tests red, so the tests can fail. */
  readonly mutants: readonly string[];
}

/** Planned and not built yet; it proves nothing and is counted apart. */
export interface LaterRequirement {
  readonly id: string;
  readonly says: string;
  /** Why it is not built yet, and what holds until then. */
  readonly later: string;
}

export interface RequirementGroup {
  readonly title: string;
  readonly rows: readonly Requirement[];
}

export const test = (file: string, title: string): TestReference => ({ file, title });

/** A test of the contract that every store passes. */
export const onBothStores = (title: string): readonly TestReference[] => [
  test('test/contract/embedded.test.ts', title),
  test('test/contract/redis.test.ts', title),
];
