import { Client, StreamableHTTPClientTransport, type CallToolResult } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

export interface ToolCall {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
  readonly _meta?: Record<string, unknown>;
}

/** A client without forms and tasks: it can only do what the text of a result says. */
export interface PlainClient {
  /** With a signal the client cancels the request, as it does when its own time is up. */
  call(call: ToolCall, options?: { readonly signal: AbortSignal }): Promise<CallToolResult>;
  close(): Promise<void>;
}

export const ERAS = ['2025-11-25', '2026-07-28'] as const;
export type Era = (typeof ERAS)[number];

/** 2025-11-25 is spoken by the first official SDK, 2026-07-28 by the second. */
export async function connectPlain(era: Era, url: string, token: string): Promise<PlainClient> {
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  if (era === '2025-11-25') {
    const client = new OldClient({ name: 'plain', version: '1' });
    const transport = new OldTransport(new URL(`${url}/mcp`), {
      requestInit,
      // The client does not ask a killed gateway for the rest of a stream.
      reconnectionOptions: {
        maxRetries: 0,
        initialReconnectionDelay: 1,
        maxReconnectionDelay: 1,
        reconnectionDelayGrowFactor: 1,
      },
    });
    await client.connect(transport as Parameters<typeof client.connect>[0]);
    return {
      call: async (call, options) => (await client.callTool(call, undefined, options)) as CallToolResult,
      close: () => client.close(),
    };
  }
  const client = new Client({ name: 'plain', version: '1' }, { versionNegotiation: { mode: { pin: era } } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  return { call: (call, options) => client.callTool(call, options), close: () => client.close() };
}

export function idOf({ _meta }: CallToolResult): string {
  return String(_meta?.['sallyport/callId']);
}

export function textOf({ content }: CallToolResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
}

export function isPending({ _meta }: CallToolResult): boolean {
  return _meta?.['sallyport/state'] !== undefined;
}
