// An MCP server of the official SDK over streamable HTTP. It listens on a free port and prints its address.
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { makeServer } from './bench-server.ts';

const handler = createMcpHandler(makeServer);
const server = serve(
  { hostname: '127.0.0.1', port: 0, fetch: (request) => handler.fetch(request) },
  (info: AddressInfo) => console.log(`http://127.0.0.1:${info.port}/mcp`),
);
process.once('SIGTERM', () => {
  server.close();
  process.exit(0);
});
