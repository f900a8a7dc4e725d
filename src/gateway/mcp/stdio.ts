import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { buildServer } from './build-server.ts';
import { idOf, type JsonRpcId } from './json-rpc.ts';
import { createMcpHome, type McpCaller } from './mcp-home.ts';
import type { McpBearer, McpPlane } from './mcp-plane.ts';
import type { Sent } from './owed-request.ts';
import { createToolChanges } from './tool-changes.ts';

const LINE_FEED = 10;
const BLANKS: ReadonlySet<number> = new Set(Buffer.from(' \t\r\n'));
const BEGINNINGS: ReadonlySet<number> = new Set(Buffer.from('{['));

/** Reports which answers were written to the client. An answer that was not written when the client goes away is lost. @internal */
export class WatchedStdio extends StdioServerTransport {
  readonly #waiting = new Map<JsonRpcId, (sent: Sent) => void>();
  readonly #onStrayLine: () => void;

  /** `onStrayLine` is called for each line that does not begin like a JSON-RPC message: the SDK skips those silently. */
  constructor(onStrayLine: () => void) {
    super();
    this.#onStrayLine = onStrayLine;
  }

  override start(): Promise<void> {
    let isAtStart = true;
    process.stdin.on('data', (chunk: Buffer) => {
      let from = 0;
      while (from < chunk.length) {
        const first = isAtStart ? chunk.subarray(from).findIndex((byte) => !BLANKS.has(byte)) : 0;
        if (first === -1) return;
        if (isAtStart && !BEGINNINGS.has(chunk[from + first]!)) this.#onStrayLine();
        const end = chunk.indexOf(LINE_FEED, from + first);
        isAtStart = end !== -1;
        from = isAtStart ? end + 1 : chunk.length;
      }
    });
    return super.start();
  }

  sent(requestId: JsonRpcId, cancelled: AbortSignal): Promise<Sent> {
    return new Promise((resolve) => {
      this.#waiting.set(requestId, resolve);
      // The SDK sends no response to a cancelled request, so its answer counts as lost.
      cancelled.addEventListener('abort', () => this.#tell(requestId, 'closed'), { once: true });
    });
  }

  override async send(message: Parameters<StdioServerTransport['send']>[0]): Promise<void> {
    const id = 'method' in message ? null : idOf(message as Parameters<typeof idOf>[0]);
    try {
      await super.send(message);
      // Stdout writes in order: once this empty write is done, the system has taken the message before it.
      if (id !== null) process.stdout.write('', (error) => this.#tell(id, error ? 'closed' : 'finished'));
    } catch (error) {
      if (id !== null) this.#tell(id, 'closed');
      throw error;
    }
  }

  #tell(id: JsonRpcId, sent: Sent): void {
    this.#waiting.get(id)?.(sent);
    this.#waiting.delete(id);
  }
}

export interface StdioEndpoint {
  /** Resolves when the client has gone. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** Serves one client on standard input and output. There is no token: the user who starts the process is trusted to be the bearer. */
export function serveMcpOnStdio(plane: McpPlane, bearer: McpBearer): StdioEndpoint {
  const home = createMcpHome(plane);
  const watchTools = createToolChanges(home);
  const wire = new WatchedStdio(() => plane.log.warn({}, 'a line on standard input is not JSON, and gets no answer'));
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
