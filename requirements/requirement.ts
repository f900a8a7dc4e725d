/** A test, identified by its file and a part of its full title. */
export interface TestReference {
  readonly file: string;
  readonly title: string;
}

/** Something that has to work, stated in one sentence, with its proof or with the reason why it is not built yet. */
export type Requirement = ProvenRequirement | LaterRequirement;

export interface ProvenRequirement {
  readonly id: string;
  readonly says: string;
  readonly tests: readonly TestReference[];
  /** Ids of known bugs (mutants/): each turns at least one of the tests red, so the tests can fail. */
  readonly mutants: readonly string[];
}

/** A requirement that is planned and not built yet. It has no proof and is counted separately. */
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

/** References one test of the store contract for both stores, embedded and Redis. */
export const onBothStores = (title: string): readonly TestReference[] => [
  test('test/contract/embedded.test.ts', title),
  test('test/contract/redis.test.ts', title),
];
