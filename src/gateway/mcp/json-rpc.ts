import { isJsonObject, type JsonObject } from '../../base/json.ts';

/** A JSON-RPC request, notification or response that was read strictly: it has only the keys that JSON-RPC defines. */
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
  /** Errors of the transport itself: media types, methods, sessions. */
  transport: -32000,
  sessionNotFound: -32001,
  headerMismatch: -32020,
  busy: -32029,
});

/** Rejects a message before anything was done for it. The text names the problem and never repeats a value of the message. */
export function rejectMessage(
  status: number,
  code: number,
  message: string,
  { id = null, data, headers = {} }: RejectDetails = {},
): Response {
  const error = { code, message, ...(data === undefined ? {} : { data }) };
  return Response.json({ jsonrpc: '2.0', id, error }, { status, headers });
}

/** Problem of a request that has the id of a request that is still open. */
export const ID_IS_OPEN = 'id: a request with it has no answer yet.';

export interface RejectDetails {
  readonly id?: JsonRpcId | null;
  readonly data?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The id to answer with, or null if the message has no id of a valid type. */
export function idOf(message: unknown): JsonRpcId | null {
  const id = (message as { readonly id?: unknown } | null)?.id;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/** The id of a request; undefined for any other message. */
export function requestIdOf(message: JsonRpcMessage | undefined): JsonRpcId | undefined {
  return message !== undefined && 'method' in message ? (idOf(message) ?? undefined) : undefined;
}

/** The id of the request that this message cancels; undefined for any message that cancels none. */
export function cancelledBy(message: JsonRpcMessage | undefined): JsonRpcId | undefined {
  if (message?.['method'] !== 'notifications/cancelled' || !isJsonObject(message['params'])) return undefined;
  const id = message['params']['requestId'];
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}
