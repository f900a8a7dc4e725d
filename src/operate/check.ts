import type { PlaneError } from '../domain/errors/errors.ts';

/** The result of one check of `sallyport doctor`. */
export interface Check {
  readonly name: string;
  readonly state: 'ok' | 'warn' | 'bad';
  readonly found: string;
  /** What to do about it: the exact command if there is one. */
  readonly fix?: string;
}

/** Converts an error to a result of `doctor`. The fix of STORE_FAILED says to run `doctor`, so it is replaced here. */
export function checkOf(name: string, { code, message, fix }: PlaneError): Check {
  const shown = code === 'STORE_FAILED' ? 'See the log of the store, or of the process that has it open.' : fix;
  return { name, state: 'bad', found: message, ...(shown === undefined ? {} : { fix: shown }) };
}
