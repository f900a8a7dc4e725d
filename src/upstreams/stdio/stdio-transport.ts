import {
  deserializeMessage,
  serializeMessage,
  type JSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { killGroup } from '../../base/kill-group.ts';
import { LineReader } from '../../base/line-reader.ts';
import { processGuard } from '../../base/process-guard.ts';
import { OutputLines } from '../../worker/runners/process/output-lines.ts';
import { UpstreamProblem } from '../upstream-problem.ts';
import { findMarkedProcesses, INSTANCE_MARK } from './marked-processes.ts';

export interface StdioOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The complete environment, without the mark of the instance. */
  readonly env: Readonly<Record<string, string>>;
  /** A random name. All processes of the instance have it in their environment. */
  readonly instance: string;
  readonly messageBytes: number;
  /** Receives what the program prints on its standard error output, line by line. */
  readonly onPrinted: (line: string) => void;
}

/** How long a program may take to end after its input was closed, and after SIGTERM. */
const END_MS = 1000;
/** Lines that are no messages are usual for programs that print a greeting. More bytes than this are a flood. */
const MAX_GARBAGE = 1024 * 1024;
/** How much a program may send per second, on average. Reading stops for a while when there is more, so that it does not occupy the worker. */
const BYTES_PER_SECOND = 64 * 1024 * 1024;
const MESSAGES_PER_SECOND = 5000;
/** What a program may leave unread before it is ended: answers to its own requests, and arguments of calls. */
const MAX_UNREAD = 64 * 1024 * 1024;
const PRINTED_PER_SECOND = 64 * 1024;
const SECOND = 1000;

/**
 * Starts a program and exchanges messages with it over its standard input and output. The program leads its own process group. When the
 * connection ends, however it ends, the group is killed, and so are processes that left it.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Why the connection ended; undefined while it is open. */
  closedBecause: string | undefined;
  readonly #options: StdioOptions;
  readonly #lines: LineReader;
  readonly #printed = new OutputLines();
  #child: ChildProcess | undefined;
  #garbage = 0;
  #read = { since: 0, bytes: 0, messages: 0 };
  #printing: NodeJS.Timeout | undefined;
  #resuming: NodeJS.Timeout | undefined;

  constructor(options: StdioOptions) {
    this.#options = options;
    this.#lines = new LineReader(options.messageBytes);
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async start(): Promise<void> {
    const { command, args, cwd, env, instance } = this.#options;
    const child = spawn(command, args, {
      cwd,
      env: { ...env, [INSTANCE_MARK]: instance },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    if (child.pid === undefined) {
      const [error] = (await once(child, 'error')) as [NodeJS.ErrnoException];
      throw new UpstreamProblem(`it cannot be started: ${describeStart(error)}`);
    }
    this.#child = child;
    processGuard().add(child.pid);
    this.#listen(child);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const input = this.#child?.stdin;
    if (this.closedBecause !== undefined || input === undefined || input === null || !input.writable)
      throw new UpstreamProblem(this.closedBecause ?? 'it does not read its input any more');
    if (input.writableLength > MAX_UNREAD) {
      this.condemn('it does not read what is sent to it');
      throw new UpstreamProblem(this.closedBecause!);
    }
    await new Promise<void>((resolve, reject) => {
      input.write(serializeMessage(message), (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Ends the program: first by closing its input, as the protocol says, then by signals. */
  async close(): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined || this.closedBecause !== undefined) return;
    const gone = once(child, 'close').catch(() => undefined);
    child.stdin?.end();
    if (!(await endsWithin(gone, END_MS))) {
      signalGroup(child.pid, 'SIGTERM');
      if (!(await endsWithin(gone, END_MS))) this.condemn('it did not end when it was asked to');
    }
    await gone;
    this.#end('it was closed');
  }

  /** Kills the program because of something that it did. */
  condemn(because: string): void {
    const pid = this.#child?.pid;
    this.#end(because);
    if (pid !== undefined) killGroup(pid);
  }

  #listen(child: ChildProcess): void {
    child.once('error', (error) => this.#end(`its process failed: ${error.message}`));
    child.once('exit', (code, signal) =>
      this.#onExit(signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`),
    );
    // A broken pipe means that the process has ended; `exit` says more.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => {});
    child.stdout?.on('data', (chunk: Buffer) => this.#onData(chunk));
    child.stderr?.on('data', (chunk: Buffer) => this.#printed.push(chunk));
    const allowPrinting = (): void => this.#printed.attach(this.#options.onPrinted, PRINTED_PER_SECOND);
    allowPrinting();
    this.#printing = setInterval(allowPrinting, SECOND).unref();
  }

  #onData(chunk: Buffer): void {
    if (this.closedBecause !== undefined) return;
    let found = 0;
    for (const line of this.#lines.push(chunk)) {
      if (line === 'too-long')
        return this.condemn(`it sent a message of more than ${this.#options.messageBytes} bytes`);
      const message = readMessage(line);
      if (message === undefined) continue;
      found += 1;
      try {
        this.onmessage?.(message);
      } catch {
        // For example, nested so deeply that it cannot be printed. Nothing that a server sends may end the worker.
        return this.condemn('it sent a message that cannot be handled');
      }
      if (this.closedBecause !== undefined) return;
    }
    this.#read.messages += found;
    // Complete lines that are no messages. A part of a long message has no end of line.
    if (found === 0 && chunk.includes('\n')) this.#garbage += chunk.byteLength;
    if (this.#garbage > MAX_GARBAGE) return this.condemn('what it sends are not messages of MCP');
    this.#slowDown(chunk.byteLength);
  }

  /** Pauses reading when the program sends more than it may per second. The pipe fills up, and the program waits. */
  #slowDown(bytes: number): void {
    const now = performance.now();
    if (now - this.#read.since > SECOND) this.#read = { since: now, bytes: 0, messages: 0 };
    this.#read.bytes += bytes;
    if (this.#read.bytes <= BYTES_PER_SECOND && this.#read.messages <= MESSAGES_PER_SECOND) return;
    const { stdout } = this.#child!;
    stdout?.pause();
    this.#resuming ??= setTimeout(
      () => {
        this.#resuming = undefined;
        stdout?.resume();
      },
      this.#read.since + SECOND - now,
    ).unref();
  }

  #onExit(how: string): void {
    const pid = this.#child?.pid;
    // Processes that it started are still in the group.
    if (pid !== undefined) killGroup(pid);
    this.#end(how);
  }

  #end(because: string): void {
    if (this.closedBecause !== undefined) return;
    this.closedBecause = because;
    clearInterval(this.#printing);
    clearTimeout(this.#resuming);
    this.#printed.detach();
    const child = this.#child;
    if (child?.pid !== undefined) {
      processGuard().remove(child.pid);
      killEscaped(this.#options.instance);
    }
    child?.stdout?.destroy();
    child?.stderr?.destroy();
    child?.stdin?.destroy();
    this.onclose?.();
  }
}

/** Undefined for a line that is no message, such as a greeting. */
function readMessage(line: Buffer): JSONRPCMessage | undefined {
  try {
    return deserializeMessage(line.toString('utf8'));
  } catch {
    return undefined;
  }
}

function endsWithin(gone: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms);
    void gone.then(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}

function signalGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal);
  } catch {
    // No process is left in the group.
  }
}

/** Kills processes of the instance that started a process group of their own. */
function killEscaped(instance: string): void {
  for (const pid of findMarkedProcesses(new Set([instance])).get(instance) ?? []) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
}

function describeStart({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return 'there is no such program or folder';
  if (code === 'EACCES') return 'the program may not be executed';
  return code ?? message;
}
