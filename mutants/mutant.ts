/** A test file, and optionally a part of the full title of the tests in it (`describe` titles included). */
export interface Catcher {
  readonly file: string;
  readonly title?: string;
}

/** A known bug: one text of one file replaced by another, and the tests that must turn red because of it. */
export interface Mutant {
  /** kebab-case, names the bug: `settle-ignores-the-fence`. */
  readonly id: string;
  /** Describes the bug in one sentence. */
  readonly bug: string;
  /** Path from the project's root, TypeScript or Lua. */
  readonly file: string;
  /** Exact text that occurs exactly once in `file`. */
  readonly find: string;
  readonly replace: string;
  /** Each of these catchers must turn red when the bug is planted. */
  readonly caughtBy: readonly Catcher[];
}
