import { ProtocolError } from '@modelcontextprotocol/server';
import { PlaneError } from '../../domain/errors/errors.ts';
import { RPC } from './json-rpc.ts';

/** A protocol error for a mistake of the client. Nothing was done for the request. */
export function invalidParams(problem: string, data?: object): ProtocolError {
  return new ProtocolError(RPC.invalidParams, `Invalid params: ${problem}.`, data);
}

/** Only the plane's own error messages are sent to the client. All other errors become a general text; the operator reads them in the log. */
export function toProtocolError(error: unknown): ProtocolError {
  if (error instanceof ProtocolError) return error;
  if (error instanceof PlaneError) {
    return new ProtocolError(RPC.internalError, error.message, { code: error.code });
  }
  return new ProtocolError(RPC.internalError, 'Something went wrong here.');
}
