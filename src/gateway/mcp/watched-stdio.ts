import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { idOf, type JsonRpcId } from './json-rpc.ts';
import type { Sent } from './owed-request.ts';

const LINE_FEED = 10;
const BLANKS: ReadonlySet<number> = new Set(Buffer.from(' \t\r\n'));
const BEGINNINGS: ReadonlySet<number> = new Set(Buffer.from('{['));

/** A stdio transport that reports for each request whether its answer was written to the client before the client went away. */
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
