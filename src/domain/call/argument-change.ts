/** Records that a hook changed the arguments of a call. Holds no value of the arguments. */
export interface ArgumentChange {
  readonly hook: string;
  /** SHA-256 of the canonical arguments after the change. */
  readonly digest: string;
  /** JSON pointers to the changed places; only the first few. */
  readonly at: readonly string[];
}
