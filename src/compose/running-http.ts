export interface RunningHttp {
  readonly url: string;
  /** A link that opens the console once, within ten minutes. */
  loginLink(): Promise<string>;
  close(): Promise<void>;
}
