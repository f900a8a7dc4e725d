// The same server over stdio, for use behind a proxy.
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { makeServer } from './bench-server.ts';

serveStdio(makeServer);
