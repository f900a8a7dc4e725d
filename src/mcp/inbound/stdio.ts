import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { buildServer } from './build-server.ts';
import { createMcpHome, type McpCaller } from './mcp-home.ts';
import type { McpBearer, McpPlane } from './mcp-plane.ts';
import { createToolChanges } from './tool-changes.ts';

export interface StdioEndpoint {
  /** The client has gone. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** One client on standard input and output. Who starts the process is who speaks: there is no token. */
export function serveMcpOnStdio(plane: McpPlane, bearer: McpBearer): StdioEndpoint {
  const home = createMcpHome(plane);
  const watchTools = createToolChanges(home);
  let end!: () => void;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const served = serveStdio(
    ({ era }) => {
      const subscriptions = new Set<string>();
      const caller: McpCaller = era === 'modern' ? { bearer, era: '2026' } : { bearer, era: '2025', subscriptions };
      const server = buildServer(home, caller);
      const stop = watchTools(caller, (change) => {
        const told =
          change === 'tools'
            ? server.sendToolListChanged()
            : change === 'prompts'
              ? server.sendPromptListChanged()
              : server.sendResourceListChanged();
        told.catch(() => undefined);
      });
      server.onclose = () => {
        stop();
        end();
      };
      return server;
    },
    { onerror: (error) => plane.log.debug({ error: String(error) }, 'a message was not served') },
  );
  process.stdin.once('end', end).once('close', end);
  return { ended, close: () => served.close() };
}
