import { pipeline, Transform } from 'node:stream';
import { parseJSONRPCMessage, type JSONRPCMessage } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { LineReader } from '../../base/line-reader.ts';
import { cancelledBy, ID_IS_OPEN, idOf, requestIdOf, RPC, type JsonRpcId, type JsonRpcMessage } from './json-rpc.ts';
import type { Sent } from './owed-request.ts';
import { MAX_MESSAGE_BYTES, parseMessage, TOO_LARGE, type RefusedMessage } from './read-message.ts';

const BLANKS: ReadonlySet<number> = new Set(Buffer.from(' \t\r'));

/**
 * Standard input and output of one client. Each line is read as strictly as the body of an HTTP request, and a refused line gets the same
 * error. Reports for each request whether its answer was written to the client before the client went away.
 */
export class WatchedStdio extends StdioServerTransport {
  /** Standard input with a line feed after its last line, which a client may have left out. */
  readonly input: Transform;
  readonly #lines = new LineReader(MAX_MESSAGE_BYTES);
  /** Requests that have no answer yet. At any time, an id names only one of them. */
  readonly #open = new Set<JsonRpcId>();
  readonly #waiting = new Map<JsonRpcId, (sent: Sent) => void>();
  readonly #onRefused: (problem: string) => void;

  /** `onRefused` is called for each line that is refused. */
  constructor(onRefused: (problem: string) => void) {
    const input = endLastLine();
    super(input);
    this.input = input;
    this.#onRefused = onRefused;
    // An error of standard input reaches the transport through `input`.
    pipeline(process.stdin, input, () => undefined);
  }

  /** Replaces the SDK's own reader: it repairs what it can, and skips the rest without an answer. */
  override _ondata = (chunk: Buffer): void => {
    for (const line of this.#lines.push(chunk)) {
      if (line === 'too-long') this.#refuse(TOO_LARGE);
      else if (!line.every((byte) => BLANKS.has(byte))) this.#receive(line);
    }
  };

  #receive(line: Buffer): void {
    const parsed = parseMessage(line);
    if (parsed.kind === 'refused') return this.#refuse(parsed);
    const { message } = parsed;
    const asked = requestIdOf(message);
    if (asked !== undefined && this.#open.has(asked)) return this.#refuse(invalid(ID_IS_OPEN, asked));
    const known = readAsMcp(message);
    if (known === undefined) return this.#refuse(invalid('The message is not one of MCP.', asked ?? null));
    if (asked !== undefined) this.#open.add(asked);
    // A cancelled request gets no answer, so the client may use its id again.
    const cancelled = cancelledBy(message);
    if (cancelled !== undefined) this.#open.delete(cancelled);
    this.onmessage?.(known);
  }

  #refuse({ code, problem, id }: RefusedMessage): void {
    this.#onRefused(problem);
    // All answers share one stream. If the error had the id of an open request, the client would take it for the answer to that request.
    const error = {
      jsonrpc: '2.0',
      id: id !== null && this.#open.has(id) ? null : id,
      error: { code, message: problem },
    };
    // JSON-RPC wants null where an id cannot be read. The type of the SDK does not know that.
    super.send(error as JSONRPCMessage).catch(() => undefined);
  }

  sent(requestId: JsonRpcId, cancelled: AbortSignal): Promise<Sent> {
    return new Promise((resolve) => {
      this.#waiting.set(requestId, resolve);
      // The SDK sends no response to a cancelled request, so its answer counts as lost.
      const lose = (): void => {
        resolve('closed');
        if (this.#waiting.get(requestId) === resolve) this.#waiting.delete(requestId);
      };
      cancelled.addEventListener('abort', lose, { once: true });
    });
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    const id = 'method' in message ? null : idOf(message);
    if (id === null) return super.send(message);
    // From here on the client may use the id again.
    this.#open.delete(id);
    const resolveSent = this.#waiting.get(id);
    this.#waiting.delete(id);
    try {
      await super.send(message);
      // Stdout writes in order: once this empty write is done, the system has taken the message before it.
      if (resolveSent !== undefined) process.stdout.write('', (error) => resolveSent(error ? 'closed' : 'finished'));
    } catch (error) {
      resolveSent?.('closed');
      throw error;
    }
  }
}

/** Adds a line feed at the end, in case the last line has none. If it has one, this adds only an empty line, which is ignored. */
function endLastLine(): Transform {
  return new Transform({
    transform: (chunk, _, done) => done(null, chunk),
    flush(done) {
      this.push('\n');
      // The transport stops answering when its input ends, so the end is delayed until the last line is served.
      setImmediate(done);
    },
  });
}

function invalid(problem: string, id: JsonRpcId | null): RefusedMessage {
  return { kind: 'refused', status: 400, code: RPC.invalidRequest, problem, id };
}

/** The message as the SDK reads it; undefined if it breaks a rule that all messages of MCP follow. */
function readAsMcp(message: JsonRpcMessage): JSONRPCMessage | undefined {
  try {
    return parseJSONRPCMessage(message);
  } catch {
    return undefined;
  }
}
