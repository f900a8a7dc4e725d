// The MCP server of direct-server.ts over stdio instead of HTTP, for use behind a proxy.
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { makeServer } from './bench-server.ts';

serveStdio(makeServer);
