// The client of one endpoint in its own process: the official SDK over streamable HTTP. Takes its orders over IPC.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { serveOrders } from '../harness/serve-orders.ts';
import { runLoop, type Load } from '../round-trip/run-loop.ts';
import type { BenchReply } from '../round-trip/variant.ts';
import { TOOL } from './bench-server.ts';
import type { Endpoint } from './endpoints.ts';

export type Order =
  | { readonly kind: 'open'; readonly endpoint: Pick<Endpoint, 'url' | 'token'>; readonly revision: Revision }
  | { readonly kind: 'run'; readonly load: Load };

export const REVISIONS = ['2025-11-25', '2026-07-28'] as const;
export type Revision = (typeof REVISIONS)[number];

let client: Client | undefined;

async function obey(order: Order): Promise<unknown> {
  if (order.kind === 'run') return runLoop({ call, close: async () => undefined }, order.load);
  const { url, token } = order.endpoint;
  const versionNegotiation = { mode: { pin: order.revision } };
  client = new Client(
    { name: 'bench', version: '1.0.0' },
    order.revision === '2026-07-28' ? { versionNegotiation } : {},
  );
  const requestInit = token === undefined ? {} : { requestInit: { headers: { authorization: `Bearer ${token}` } } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), requestInit));
  return undefined;
}

async function call({ id, text }: { readonly id: number; readonly text: string }): Promise<BenchReply> {
  const result = await client!.callTool({ name: TOOL, arguments: { id, text } });
  if (result.isError === true || result.structuredContent === undefined)
    throw new Error(`request ${id} ended as ${JSON.stringify(result)}`);
  return result.structuredContent as unknown as BenchReply;
}

serveOrders(obey, async () => client?.close());
