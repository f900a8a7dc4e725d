/** Messages as bytes on the wire, for what no client library would send. */
export const V2026 = '2026-07-28';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: {
    readonly result?: Record<string, unknown>;
    readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
    /** The code of a refusal by the gateway in front of the endpoint. */
    readonly code?: string;
  };
}

export interface Sent {
  readonly method?: string;
  readonly headers?: Record<string, string | undefined>;
  readonly body?: string | Uint8Array;
}

export async function send(url: string, token: string, { method = 'POST', headers = {}, body }: Sent): Promise<Answer> {
  const all = {
    authorization: `Bearer ${token}`,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    ...headers,
  };
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >;
  const response = await fetch(url, { method, headers: given, ...(body === undefined ? {} : { body }) });
  return { status: response.status, headers: response.headers, body: readAnswer(await response.text()) };
}

/** In a stream, the last message is the answer. */
function readAnswer(text: string): Answer['body'] {
  const last = text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .at(-1);
  const json = last?.slice('data: '.length) ?? text;
  return (json === '' ? {} : JSON.parse(json)) as Answer['body'];
}

export interface Request2026 {
  readonly id?: unknown;
  readonly method: string;
  readonly params?: Record<string, unknown>;
  readonly meta?: Record<string, unknown>;
  readonly capabilities?: Record<string, unknown>;
  readonly headers?: Record<string, string | undefined>;
}

/** A request of 2026 as it should be, with the headers that repeat it. */
export function request2026({
  id = 1,
  method,
  params = {},
  meta = {},
  capabilities = {},
  headers = {},
}: Request2026): Sent {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': V2026,
    'io.modelcontextprotocol/clientInfo': { name: 'wire', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    ...meta,
  };
  const name = params['name'] ?? params['uri'] ?? params['taskId'];
  const standard = {
    'mcp-protocol-version': V2026,
    'mcp-method': method,
    ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
  };
  return {
    headers: { ...standard, ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', ...(id === undefined ? {} : { id }), method, params: { ...params, _meta } }),
  };
}
