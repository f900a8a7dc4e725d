import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { buildServer } from './build-server.ts';
import { createMcpHome, type McpCaller } from './mcp-home.ts';
import type { McpBearer, McpPlane } from './mcp-plane.ts';
import { createToolChanges } from './tool-changes.ts';
import { WatchedStdio } from './watched-stdio.ts';

export interface StdioEndpoint {
  /** Resolves when the client has gone. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** Serves one client on standard input and output. There is no token: the user who starts the process is trusted to be the bearer. */
export function serveMcpOnStdio(plane: McpPlane, bearer: McpBearer): StdioEndpoint {
  const home = createMcpHome(plane);
  const watchTools = createToolChanges(home);
  const wire = new WatchedStdio((problem) => plane.log.warn({ problem }, 'a message on standard input was refused'));
  let end!: () => void;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const served = serveStdio(
    ({ era }) => {
      const subscriptions = new Set<string>();
      const exchange: McpCaller['exchange'] = (requestId, cancelled) => ({
        cameAt: performance.now(),
        sent: wire.sent(requestId, cancelled),
      });
      const caller: McpCaller =
        era === 'modern' ? { bearer, era: '2026', exchange } : { bearer, era: '2025', subscriptions, exchange };
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
    { transport: wire, onerror: (error) => plane.log.debug({ error: String(error) }, 'a message was not served') },
  );
  // This runs before the SDK sees the end of the input, because the SDK would cancel the calls under way. A client that goes away only
  // stops waiting for its calls. A client that no longer reads has gone too, although its end of the input may still be open.
  const gone = (): void => {
    home.stop();
    end();
  };
  process.stdin.prependOnceListener('end', gone).prependOnceListener('close', gone);
  process.stdout.prependListener('error', gone);
  return {
    ended,
    async close() {
      home.stop();
      await served.close();
      await home.owed.handOver();
    },
  };
}
