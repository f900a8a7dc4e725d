/** That a hook changed the arguments, without a value of them. */
export interface ArgumentChange {
  readonly hook: string;
  /** SHA-256 of the canonical arguments after it. */
  readonly digest: string;
  /** JSON pointers to what it changed; the first few. */
  readonly at: readonly string[];
}
