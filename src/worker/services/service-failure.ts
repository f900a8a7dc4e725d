const CODE_PATTERN = /^[A-Z][A-Z0-9_]{0,63}$/;
const MAX_CHARACTERS = 500;

/**
 * An error that a service throws for the tool. Its message may be shown to the model, so it must not reveal internals. Any other error that a
 * service throws goes to the operator's log, and the tool learns only that the service failed.
 */
export class ServiceFailure extends Error {
  override readonly name = 'ServiceFailure';
  readonly code: string;

  constructor(code: string, message: string, cause?: unknown) {
    super(message.slice(0, MAX_CHARACTERS), cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

/** Compares the name instead of using `instanceof`: an operator's service may load another copy of this package. */
export function readServiceFailure(thrown: unknown): { code: string; message: string } | undefined {
  const { name, code, message } = (
    typeof thrown === 'object' && thrown !== null ? thrown : {}
  ) as Partial<ServiceFailure>;
  if (name !== 'ServiceFailure' || typeof code !== 'string' || !CODE_PATTERN.test(code)) return undefined;
  return typeof message === 'string' && message !== ''
    ? { code, message: message.slice(0, MAX_CHARACTERS) }
    : undefined;
}
