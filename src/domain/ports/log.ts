/** Structured logging only. Facts are fields, never parts of the message; otherwise a caller could forge a log line. */
export interface Log {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}
