import { wellFormed } from '../../base/well-formed.ts';

/** Marks a ToolFailure. `instanceof` is not used: a module may load another copy of this package than the worker. */
const MARK = Symbol.for('sallyport.tool-failure');
const CODE_PATTERN = /^[A-Z][A-Z0-9_]{0,63}$/;
const MAX_MESSAGE = 4096;

/**
 * The only error class for tool authors: its message is shown to the model. The message of any other error goes only to the operator's log.
 */
export class ToolFailure extends Error {
  override readonly name: string = 'ToolFailure';
  /** The author's own error code, for programs to compare, e.g. `NOTE_NOT_FOUND`. */
  readonly code: string | undefined;
  readonly [MARK]: 'failed' | 'denied' = 'failed';

  constructor(message: string, options: { code?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = options.code;
  }
}

class ToolDenial extends ToolFailure {
  override readonly name = 'ToolDenial';
  override readonly [MARK] = 'denied';
}

/** Ends the run because the tool itself refuses the caller. It throws, so that the work cannot continue after a forgotten `return`. */
export function denied(reason: string, options: { code?: string } = {}): never {
  throw new ToolDenial(reason, options);
}

export interface ReportedFailure {
  readonly how: 'failed' | 'denied';
  readonly message: string;
  readonly code?: string;
}

/** What a thrown ToolFailure reports; undefined for any other value. Never throws, although getters of the value may. */
export function readToolFailure(thrown: unknown): ReportedFailure | undefined {
  try {
    if (typeof thrown !== 'object' || thrown === null) return undefined;
    const { [MARK]: how, message, code } = thrown as { [MARK]?: unknown; message?: unknown; code?: unknown };
    return readToolFailureFields(how, message, code);
  } catch {
    return undefined;
  }
}

export function readToolFailureFields(how: unknown, message: unknown, code: unknown): ReportedFailure | undefined {
  if (how !== 'failed' && how !== 'denied') return undefined;
  const text = typeof message === 'string' ? wellFormed(message.slice(0, MAX_MESSAGE)) : '';
  return {
    how,
    message: text === '' ? (how === 'denied' ? 'The tool refused.' : 'The tool failed.') : text,
    ...(typeof code === 'string' && CODE_PATTERN.test(code) ? { code } : {}),
  };
}
