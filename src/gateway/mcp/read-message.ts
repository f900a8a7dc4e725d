import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { JSON_LIMITS, parseStrictJson, type JsonProblem } from '../../base/strict-json.ts';
import { idOf, rejectMessage, RPC, type JsonRpcMessage } from './json-rpc.ts';

/** Room for the arguments of the largest call, plus the message around them. */
const MAX_BYTES = JSON_LIMITS.bytes + 64 * 1024;
const LIMITS = { ...JSON_LIMITS, bytes: MAX_BYTES };
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
  if (body === undefined) {
    return rejected(rejectMessage(413, RPC.transport, `The message has more than ${MAX_BYTES} bytes.`));
  }
  const parsed = parseStrictJson(body, LIMITS);
  if (!parsed.ok) return rejected(rejectJson(parsed.error));
  const problem = shapeProblem(parsed.value);
  if (problem === undefined) return { kind: 'message', message: parsed.value as JsonRpcMessage };
  return rejected(rejectMessage(400, RPC.invalidRequest, problem, { id: idOf(parsed.value) }));
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
  if (Number(request.headers.get('content-length') ?? 0) > MAX_BYTES) return undefined;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BYTES) return undefined;
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

function rejectJson({ kind, problem, position }: JsonProblem): Response {
  const [status, code] = JSON_ANSWERS[kind];
  const place = position === undefined ? '' : ` (at ${position})`;
  return rejectMessage(status, code, `The message is refused: ${problem}${place}.`);
}

/** Describes what is wrong with the JSON-RPC message. Keys must match exactly: otherwise two parsers could read one message differently. */
function shapeProblem(value: unknown): string | undefined {
  if (Array.isArray(value)) return 'One message at a time: batches are not taken.';
  if (!isJsonObject(value)) return 'A message is an object.';
  if (value['jsonrpc'] !== '2.0') return 'jsonrpc must be "2.0".';
  const isResponse = !('method' in value) && ('result' in value || 'error' in value);
  const known = isResponse ? RESPONSE_KEYS : REQUEST_KEYS;
  if (!Object.keys(value).every((key) => known.has(key))) return 'A message has no other fields than JSON-RPC names.';
  if ('id' in value && !isId(value['id'])) return 'id must be a whole number or a short text.';
  if (isResponse) return responseProblem(value);
  const { method, params } = value;
  if (typeof method !== 'string' || method.length > MAX_METHOD_LENGTH) return 'method must be a short text.';
  if (params !== undefined && !isJsonObject(params)) return 'params must be an object.';
  return undefined;
}

function responseProblem(value: JsonObject): string | undefined {
  if (!('id' in value)) return 'A response names the request it answers.';
  return 'result' in value && 'error' in value ? 'A response has a result or an error.' : undefined;
}

function isId(id: unknown): boolean {
  return typeof id === 'string' ? id.length <= MAX_ID_LENGTH : Number.isSafeInteger(id);
}
