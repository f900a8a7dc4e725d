import { EXIT } from './exit-codes.ts';

/** An error that a command reports. Its message is written for the user of the command line. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  readonly code: string;
  readonly exitCode: number;
  readonly fix: string | undefined;

  constructor(code: string, exitCode: number, message: string, fix?: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.exitCode = exitCode;
    this.fix = fix;
  }
}

export function usage(message: string, fix?: string): CommandFailure {
  return new CommandFailure('USAGE', EXIT.usage, message, fix);
}

export function unauthorised(message: string, fix?: string): CommandFailure {
  return new CommandFailure('AUTH', EXIT.auth, message, fix);
}

export function unavailable(message: string, fix?: string, cause?: unknown): CommandFailure {
  return new CommandFailure('UNAVAILABLE', EXIT.unavailable, message, fix, cause);
}

/** The failure of a command whose standard output could not be written. A reader that closes the pipe early does not count as a failure. */
export function lostOutput(error: Error): CommandFailure {
  return unavailable(`The output could not be written: ${error.message}.`, undefined, error);
}
