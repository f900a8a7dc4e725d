import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { buildServer } from './build-server.ts';
import { createMcpShared, type McpCaller } from './mcp-shared.ts';
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
  const shared = createMcpShared(plane);
  const watchTools = createToolChanges(shared);
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
      const server = buildServer(shared, caller);
      const stop = watchTools(caller, (change) => {
        const sent =
          change === 'tools'
            ? server.sendToolListChanged()
            : change === 'prompts'
              ? server.sendPromptListChanged()
              : server.sendResourceListChanged();
        sent.catch(() => undefined);
      });
      server.onclose = () => {
        stop();
        end();
      };
      return server;
    },
    { transport: wire, onerror: (error) => plane.log.debug({ error: String(error) }, 'a message was not served') },
  );
  // The listeners are added in front of those of the SDK, because the SDK would cancel the calls under way when the input ends. A client
  // that goes away only stops waiting for its calls. A client that no longer reads has gone too, although it may still keep the input open.
  const gone = (): void => {
    shared.stop();
    end();
  };
  wire.input.prependOnceListener('end', gone).prependOnceListener('close', gone);
  process.stdout.prependListener('error', gone);
  return {
    ended,
    async close() {
      shared.stop();
      await served.close();
      await shared.owed.handOver();
    },
  };
}
