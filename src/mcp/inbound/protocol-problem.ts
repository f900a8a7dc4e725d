import { ProtocolError } from '@modelcontextprotocol/server';
import { PlaneError } from '../../domain/errors.ts';
import { RPC } from './json-rpc.ts';

/** A mistake of the client, told as one: nothing was done. */
export function invalidParams(problem: string, data?: object): ProtocolError {
  return new ProtocolError(RPC.invalidParams, `Invalid params: ${problem}.`, data);
}

/** Only what the plane itself says goes out; whatever else went wrong is the operator's to read. */
export function toProtocolError(error: unknown): ProtocolError {
  if (error instanceof ProtocolError) return error;
  if (error instanceof PlaneError) {
    return new ProtocolError(RPC.internalError, error.message, { code: error.code });
  }
  return new ProtocolError(RPC.internalError, 'Something went wrong here.');
}
