import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { JSON_LIMITS, parseStrictJson, type JsonProblem } from '../../base/strict-json.ts';
import { idOf, rejectMessage, RPC, type JsonRpcId, type JsonRpcMessage } from './json-rpc.ts';

/** Room for the arguments of the largest call, plus the message around them. */
export const MAX_MESSAGE_BYTES = JSON_LIMITS.bytes + 64 * 1024;
const LIMITS = { ...JSON_LIMITS, bytes: MAX_MESSAGE_BYTES };
const MAX_ID_LENGTH = 256;
const MAX_METHOD_LENGTH = 128;

const REQUEST_KEYS = new Set(['jsonrpc', 'id', 'method', 'params']);
const RESPONSE_KEYS = new Set(['jsonrpc', 'id', 'result', 'error']);

export type ReadMessage =
  | { readonly kind: 'message'; readonly message: JsonRpcMessage }
  | { readonly kind: 'rejected'; readonly response: Response };

/** Reads one POSTed message. Headers are checked first, so a request that no MCP client would send is rejected before its body is read. */
export async function readMessage(request: Request): Promise<ReadMessage> {
  const refused = checkMedia(request);
  if (refused !== undefined) return rejected(refused);
  const body = await readBody(request);
  const parsed = body === undefined ? TOO_LARGE : parseMessage(body);
  if (parsed.kind === 'message') return parsed;
  const { status, code, problem, id } = parsed;
  return rejected(rejectMessage(status, code, problem, { id }));
}

/** Why a message is refused, with its HTTP status and JSON-RPC error code. The problem never repeats a value of the message. */
export interface RefusedMessage {
  readonly kind: 'refused';
  readonly status: number;
  readonly code: number;
  readonly problem: string;
  /** The id of the refused request; null if it cannot be read. */
  readonly id: JsonRpcId | null;
}

export type ParsedMessage = { readonly kind: 'message'; readonly message: JsonRpcMessage } | RefusedMessage;

export const TOO_LARGE: RefusedMessage = {
  kind: 'refused',
  status: 413,
  code: RPC.transport,
  problem: `The message has more than ${MAX_MESSAGE_BYTES} bytes.`,
  id: null,
};

/** Reads the bytes of one message. Every transport reads with this function, so a message means the same on all of them. */
export function parseMessage(bytes: Uint8Array): ParsedMessage {
  const parsed = parseStrictJson(bytes, LIMITS);
  if (!parsed.ok) return refuseJson(parsed.error);
  const { value } = parsed;
  const problem = shapeProblem(value);
  if (problem === undefined) return { kind: 'message', message: value as JsonRpcMessage };
  // A response has the id of a request that the server sent. If the error repeated it, the client could take the error for the answer to a
  // request of its own with the same id.
  const id = isResponse(value) ? null : idOf(value);
  return { kind: 'refused', status: 400, code: RPC.invalidRequest, problem, id };
}

function rejected(response: Response): ReadMessage {
  return { kind: 'rejected', response };
}

function checkMedia({ headers }: Request): Response | undefined {
  if (!isJsonType(headers.get('content-type')))
    return rejectMessage(415, RPC.transport, 'Content-Type must be application/json, in UTF-8.');
  if (headers.has('content-encoding') && headers.get('content-encoding') !== 'identity')
    return rejectMessage(415, RPC.transport, 'Content-Encoding is not taken.');
  const accepted = mediaTypes(headers.get('accept'));
  const takes = (type: string): boolean =>
    accepted.has(type) || accepted.has('*/*') || accepted.has(`${type.split('/')[0]}/*`);
  if (takes('application/json') && takes('text/event-stream')) return undefined;
  return rejectMessage(406, RPC.transport, 'Accept must name application/json and text/event-stream.');
}

function isJsonType(text: string | null): boolean {
  const [type, ...parameters] = (text ?? '').split(';').map((part) => part.trim().toLowerCase());
  if (type !== 'application/json') return false;
  return parameters.every((each) => !each.startsWith('charset') || /^charset="?utf-?8"?$/.test(each));
}

function mediaTypes(text: string | null): ReadonlySet<string> {
  return new Set((text ?? '').split(',').map((part) => part.split(';')[0]!.trim().toLowerCase()));
}

/** Undefined if the body is too large; reading stops as soon as that is known. */
async function readBody(request: Request): Promise<Uint8Array | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > MAX_MESSAGE_BYTES) return undefined;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_MESSAGE_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const JSON_ANSWERS: Readonly<Record<JsonProblem['kind'], readonly [status: number, code: number]>> = {
  syntax: [400, RPC.parseError],
  depth: [400, RPC.parseError],
  size: [413, RPC.transport],
  shape: [400, RPC.invalidRequest],
  value: [400, RPC.invalidParams],
};

function refuseJson({ kind, problem, position }: JsonProblem): RefusedMessage {
  const [status, code] = JSON_ANSWERS[kind];
  const place = position === undefined ? '' : ` (at ${position})`;
  return { kind: 'refused', status, code, problem: `The message is refused: ${problem}${place}.`, id: null };
}

/** Describes what is wrong with the JSON-RPC message. Keys must match exactly: otherwise two parsers could read one message differently. */
function shapeProblem(value: unknown): string | undefined {
  if (Array.isArray(value)) return 'One message at a time: batches are not taken.';
  if (!isJsonObject(value)) return 'A message is an object.';
  if (value['jsonrpc'] !== '2.0') return 'jsonrpc must be "2.0".';
  const known = isResponse(value) ? RESPONSE_KEYS : REQUEST_KEYS;
  if (!Object.keys(value).every((key) => known.has(key))) return 'A message has no other fields than JSON-RPC names.';
  if ('id' in value && !isId(value['id'])) return 'id must be a whole number or a short text.';
  if (isResponse(value)) return responseProblem(value);
  const { method, params } = value;
  if (typeof method !== 'string' || method.length > MAX_METHOD_LENGTH) return 'method must be a short text.';
  if (params !== undefined && !isJsonObject(params)) return 'params must be an object.';
  return undefined;
}

function isResponse(value: unknown): boolean {
  return isJsonObject(value) && !('method' in value) && ('result' in value || 'error' in value);
}

function responseProblem(value: JsonObject): string | undefined {
  if (!('id' in value)) return 'A response names the request it answers.';
  return 'result' in value && 'error' in value ? 'A response has a result or an error.' : undefined;
}

function isId(id: unknown): boolean {
  return typeof id === 'string' ? id.length <= MAX_ID_LENGTH : Number.isSafeInteger(id);
}
