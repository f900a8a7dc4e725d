import type { JsonObject } from '../../domain/json.ts';

/** A JSON-RPC request, notification or response, read strictly: its keys are these and no others. */
export interface JsonRpcMessage extends JsonObject {
  jsonrpc: '2.0';
}

export type JsonRpcId = string | number;

export const RPC = Object.freeze({
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /** Of the transport itself: media types, methods, sessions. */
  transport: -32000,
  sessionNotFound: -32001,
  headerMismatch: -32020,
  busy: -32029,
});

/** Whatever is wrong with a message before anything was done. Says what, and never repeats a value. */
export function rejectMessage(
  status: number,
  code: number,
  message: string,
  { id = null, data, headers = {} }: RejectDetails = {},
): Response {
  const error = { code, message, ...(data === undefined ? {} : { data }) };
  return Response.json({ jsonrpc: '2.0', id, error }, { status, headers });
}

export interface RejectDetails {
  readonly id?: JsonRpcId | null;
  readonly data?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The id to answer with, if the message has one that can be repeated. */
export function idOf(message: unknown): JsonRpcId | null {
  const id = (message as { readonly id?: unknown } | null)?.id;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}
