// The same server over stdio, for a proxy to stand in front of.
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { makeServer } from './bench-server.ts';

serveStdio(makeServer);
