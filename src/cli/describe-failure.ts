import { CommanderError } from 'commander';
import { nearNames } from '../base/near-names.ts';
import { PlaneError, type PlaneErrorCode } from '../domain/errors/errors.ts';
import { CommandFailure } from './command-failure.ts';
import { EXIT } from './exit-codes.ts';

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly fix: string | undefined;
  readonly exitCode: number;
}

const MAX_LENGTH = 400;

/** The exit code of a command for each error of the plane. docs/errors.md lists them too. @public */
export const EXIT_OF: Readonly<Record<PlaneErrorCode, number>> = {
  STORE_UNAVAILABLE: EXIT.unavailable,
  STORE_UNSAFE: EXIT.config,
  STORE_REPLACED: EXIT.unavailable,
  STORE_UNADOPTED: EXIT.unavailable,
  STORE_OVERWRITTEN: EXIT.unavailable,
  STORE_MISSING: EXIT.unavailable,
  STORE_LOST: EXIT.unavailable,
  STORE_DAMAGED: EXIT.unavailable,
  STORE_READ_ONLY: EXIT.unavailable,
  STORE_FOLDER_UNSAFE: EXIT.config,
  STORE_LIBRARY: EXIT.unavailable,
  STORE_LOGIN: EXIT.auth,
  STORE_FORBIDDEN: EXIT.auth,
  STORE_ROLE: EXIT.auth,
  STORE_SENTINEL: EXIT.unavailable,
  STORE_NOT_EMPTY: EXIT.notOk,
  BACKUP_FAILED: EXIT.notOk,
  BACKUP_INVALID: EXIT.notOk,
  STORE_LANES: EXIT.config,
  STORE_VERSION: EXIT.unavailable,
  STORE_OWNED: EXIT.unavailable,
  STORE_FULL: EXIT.unavailable,
  STORE_FAILED: EXIT.unavailable,
  CALL_UNKNOWN: EXIT.notOk,
  ID_AMBIGUOUS: EXIT.notOk,
  REDIRECT_NOWHERE: EXIT.notOk,
  CALL_NOT_INDETERMINATE: EXIT.notOk,
  APPROVAL_UNKNOWN: EXIT.notOk,
  APPROVAL_INVALID: EXIT.usage,
  GRANT_UNKNOWN: EXIT.notOk,
  AGENT_UNKNOWN: EXIT.notOk,
  MODULE_UNKNOWN: EXIT.notOk,
  UPSTREAM_UNKNOWN: EXIT.notOk,
  UPSTREAM_UNSEEN: EXIT.notOk,
  UPSTREAM_OFFER_CHANGED: EXIT.notOk,
  UPSTREAM_DEFINITION_UNKNOWN: EXIT.notOk,
  MODULE_SERVED: EXIT.notOk,
  APPROVAL_NOT_YOURS: EXIT.notOk,
  APPROVAL_NOT_REVEALED: EXIT.notOk,
  TOKEN_INVALID: EXIT.usage,
  TOKEN_UNKNOWN: EXIT.notOk,
  TOKENS_FULL: EXIT.notOk,
  POLICY_CONFLICT: EXIT.notOk,
  POLICY_INVALID: EXIT.config,
  SESSION_INVALID: EXIT.usage,
  RUNS_FULL: EXIT.unavailable,
  CONFIG_INVALID: EXIT.config,
  MODULES_MISSING: EXIT.config,
  SETUP_DUPLICATE: EXIT.config,
  HOOKS_INVALID: EXIT.config,
  AUDIT_SINK_MISSING: EXIT.config,
  AUDIT_SINK_UNAVAILABLE: EXIT.unavailable,
  AUDIT_NO_GAP: EXIT.notOk,
  AUDIT_KEYS_UNSAFE: EXIT.auth,
  AUDIT_KEYS_FOREIGN: EXIT.auth,
  AUDIT_TRUSTED_KEYS_MISSING: EXIT.config,
  AUDIT_WENT_BACK: EXIT.notOk,
  AUDIT_CHAIN_CHANGED: EXIT.notOk,
  AUDIT_NOT_IN_ORDER: EXIT.notOk,
  AUDITOR_KEY_INVALID: EXIT.config,
  AUDIT_NOT_SEALED: EXIT.notOk,
  AUDIT_SEAL_KEY: EXIT.auth,
  AUDIT_SEAL_BROKEN: EXIT.notOk,
  SERVICES_INVALID: EXIT.config,
  SERVICE_FAILED: EXIT.unavailable,
  HTTP_HOST_REFUSED: EXIT.auth,
  HTTP_ORIGIN_REFUSED: EXIT.auth,
  HTTP_REQUEST_INVALID: EXIT.usage,
  HTTP_PATH_UNKNOWN: EXIT.notOk,
  METRICS_OFF: EXIT.notOk,
  HTTP_METHOD_REFUSED: EXIT.notOk,
  HTTP_BODY_TYPE: EXIT.usage,
  HTTP_BODY_INVALID: EXIT.usage,
  HTTP_BODY_TOO_LARGE: EXIT.usage,
  HTTP_HEADERS_TOO_LARGE: EXIT.usage,
  HTTP_TOO_SLOW: EXIT.unavailable,
  PARAMETER_INVALID: EXIT.usage,
  TOKEN_REFUSED: EXIT.auth,
  SCOPE_MISSING: EXIT.auth,
  CONSOLE_REQUEST_REFUSED: EXIT.auth,
  LOGIN_REFUSED: EXIT.auth,
  RATE_LIMITED: EXIT.unavailable,
  GATEWAY_BUSY: EXIT.unavailable,
  GATEWAY_DRAINING: EXIT.unavailable,
  SUBSCRIPTION_REFUSED: EXIT.usage,
  CLIENT_CLOSED: EXIT.internal,
  INTERNAL: EXIT.internal,
};

/** Fixes that replace those of the error table, which address a programmer. Here the reader is a person at a terminal. */
const FIXES: Partial<Record<PlaneErrorCode, string>> = {
  STORE_OWNED: 'Use that process, stop it, or name another folder with --folder.',
  CALL_UNKNOWN: 'List the calls under way with: sallyport calls list',
};

/**
 * Describes any error in one line, with a fix and the exit code, and never with a stack
 * trace. `help` is the command that explains the failed one.
 */
export function describeFailure(error: unknown, help = 'sallyport --help'): Failure {
  if (error instanceof CommandFailure) {
    const { code, message, fix, exitCode } = error;
    return { code, message, fix: fix ?? (exitCode === EXIT.usage ? `See: ${help}` : undefined), exitCode };
  }
  if (error instanceof PlaneError) {
    const { code, message, fix } = error;
    return { code, message, fix: FIXES[code] ?? fix, exitCode: EXIT_OF[code] };
  }
  if (error instanceof CommanderError) {
    // Remove the value attached to a mistyped flag: it may be a secret.
    const message = error.message.replace(/^error: /, '').replace(/'(--[^=']+)=.*'/s, "'$1'");
    return {
      code: 'USAGE',
      message: suggestChoice(message.slice(0, MAX_LENGTH)),
      fix: `See: ${help}`,
      exitCode: EXIT.usage,
    };
  }
  const known = describeSystemError(error);
  if (known !== undefined) return known;
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return {
    code: 'INTERNAL',
    message: `Something is wrong in Sallyport itself: ${message}`,
    fix: 'Please report it. --debug shows more.',
    exitCode: EXIT.internal,
  };
}

/**
 * Commander suggests similar commands and options, but not a similar choice, and its message for an argument is long. This adds a
 * suggestion and shortens the message.
 */
function suggestChoice(message: string): string {
  const found = /^(.*'([^']*)' is invalid.*\. Allowed choices are )(.*)\.$/.exec(message);
  if (found === null) return message;
  const [, before, given, choices] = found;
  const [guess] = nearNames(given!, choices!.split(', '), 1);
  const plain = before!.replace(
    /^command-argument value ('.*') is invalid for argument '(.*)'/,
    '$1 is invalid for <$2>',
  );
  return `${plain}${choices}.${guess === undefined ? '' : ` Did you mean ${guess}?`}`;
}

const SYSTEM_ERRORS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is taken',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'it is not allowed',
  EPERM: 'it is not allowed',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EMFILE: 'too many files are open',
};

/** Errors about a path that the user gave. */
const PATH_ERRORS: Readonly<Record<string, string>> = {
  EEXIST: 'there is something of that name already',
  ENOTDIR: 'a part of the path is not a folder',
  EISDIR: 'it is a folder',
  ENAMETOOLONG: 'the name is too long',
};

function describeSystemError(error: unknown): Failure | undefined {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code !== 'string' || typeof message !== 'string') return undefined;
  const isAboutPath = Object.hasOwn(PATH_ERRORS, code);
  if (!isAboutPath && !Object.hasOwn(SYSTEM_ERRORS, code)) return undefined;
  return {
    code,
    message: `${isAboutPath ? PATH_ERRORS[code] : SYSTEM_ERRORS[code]} (${message})`,
    fix: isAboutPath ? 'Name another file or folder.' : undefined,
    exitCode: EXIT.unavailable,
  };
}
