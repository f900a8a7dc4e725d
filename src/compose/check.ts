/** One thing `doctor` looked at. */
export interface Check {
  readonly name: string;
  readonly state: 'ok' | 'warn' | 'bad';
  readonly found: string;
  /** The exact command where there is one. */
  readonly fix?: string;
}
