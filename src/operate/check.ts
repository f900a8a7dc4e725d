/** The result of one check of `sallyport doctor`. */
export interface Check {
  readonly name: string;
  readonly state: 'ok' | 'warn' | 'bad';
  readonly found: string;
  /** What to do about it: the exact command if there is one. */
  readonly fix?: string;
}
