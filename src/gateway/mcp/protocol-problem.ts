import { ProtocolError } from '@modelcontextprotocol/server';
import { PlaneError } from '../../domain/errors/errors.ts';
import { RPC } from './json-rpc.ts';

/** A protocol error for a mistake of the client. Nothing was done for the request. */
export function invalidParams(problem: string, data?: object): ProtocolError {
  return new ProtocolError(RPC.invalidParams, `Invalid params: ${problem}.`, data);
}

/** Max characters of what the validator of the SDK says about a parameter. */
const MAX_PROBLEM = 200;

/** Replaces an error of the SDK's validator, which holds a list of issues as JSON, by one sentence about the first of them. */
export function sayInvalidParams(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (error instanceof ProtocolError && error.code !== RPC.invalidParams) return error;
  const issue = firstIssue(error.message);
  if (issue === undefined) return error;
  const place = issue.path.filter((step, index) => index > 0 || step !== 'params').join('.');
  const problem = `${place === '' ? 'params' : place}: ${issue.message}`.slice(0, MAX_PROBLEM);
  return invalidParams(problem.replace(/\.$/, ''));
}

interface Issue {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** The first issue of a message that is, or ends with, a list of issues. */
function firstIssue(message: string): Issue | undefined {
  try {
    const [issue] = JSON.parse(message.slice(message.indexOf('['))) as Partial<Issue>[];
    return Array.isArray(issue?.path) && typeof issue.message === 'string' ? (issue as Issue) : undefined;
  } catch {
    return undefined;
  }
}

/** Only the plane's own error messages are sent to the client. All other errors become a general text; the operator reads them in the log. */
export function toProtocolError(error: unknown): ProtocolError {
  if (error instanceof ProtocolError) return error;
  if (error instanceof PlaneError) {
    const code = error.code === 'CALL_UNKNOWN' ? RPC.invalidParams : RPC.internalError;
    return new ProtocolError(code, error.message, { code: error.code });
  }
  return new ProtocolError(RPC.internalError, 'Something went wrong here.');
}
