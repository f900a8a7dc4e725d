import { spawn, type ChildProcess } from 'node:child_process';
import type { Duplex, Readable } from 'node:stream';
import { decode } from '../../../base/message-pack.ts';
import { findMessagePackProblem } from '../../../base/check-message-pack.ts';
import { killGroup } from '../../../base/kill-group.ts';
import { encodeFrame, FRAME_SLACK_BYTES, FrameReader } from '../../../base/frames.ts';
import { CHANNEL_FD, type ToProcess } from './messages.ts';
import { OutputLines } from './output-lines.ts';
import { residentBytes } from './resident-memory.ts';

export interface ToolProcessOptions {
  readonly childFile: string;
  readonly maxHeapMb: number;
  readonly maxResidentBytes: number;
  readonly abortGraceMs: number;
}

/** The run that currently uses the process. */
export interface ProcessUser {
  readonly maxFrameBytes: number;
  onMessage(message: Record<string, unknown>, bytes: number): void;
  /** The process is gone, and everything it sent was read. */
  onGone(how: string): void;
}

const ENVIRONMENT = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'TZ'];
const DRAIN_MS = 500;
const EXIT_AFTER_END_MS = 250;
const STDERR_TAIL = 4096;
const HEAP_EXHAUSTED = 'JavaScript heap out of memory';

/**
 * One child process with its channel. It leads its own process group, so that everything the tool starts is killed with it. `gone` resolves
 * once it has exited, the group was killed and its last frames were read.
 */
export class ToolProcess {
  readonly stdout = new OutputLines();
  readonly stderr = new OutputLines();
  readonly gone: Promise<void>;
  /** The process must not be used again. */
  worn = false;
  runs = 0;
  readonly #options: ToolProcessOptions;
  readonly #child: ChildProcess;
  readonly #channel: Duplex | undefined;
  readonly #frames = new FrameReader();
  #user: ProcessUser | undefined;
  #state: 'alive' | 'exited' | 'gone' = 'alive';
  #deathCause: string | undefined;
  #stderrTail = '';
  #resolveGone!: () => void;

  /** May throw if the system cannot start processes at all. */
  constructor(options: ToolProcessOptions) {
    this.#options = options;
    this.gone = new Promise((resolve) => (this.#resolveGone = resolve));
    const args = [`--max-old-space-size=${options.maxHeapMb}`, options.childFile, String(process.pid)];
    this.#child = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      detached: true,
      env: Object.fromEntries(ENVIRONMENT.flatMap((name) => (name in process.env ? [[name, process.env[name]]] : []))),
    });
    this.#channel = (this.#child.stdio[CHANNEL_FD] ?? undefined) as Duplex | undefined;
    this.#listen();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get alive(): boolean {
    return this.#state === 'alive' && this.#deathCause === undefined;
  }

  get busy(): boolean {
    return this.#user !== undefined;
  }

  attach(user: ProcessUser): void {
    this.#user = user;
    if (this.#state === 'gone') user.onGone(this.#deathCause ?? 'it had ended before');
  }

  detach(): void {
    this.#user = undefined;
    this.runs += 1;
  }

  send(message: ToProcess): void {
    if (this.alive && this.#channel?.writable) this.#channel.write(encodeFrame(message));
  }

  /** Kills the process because of something it did. Its run gets this reason instead of the signal. */
  condemn(how: string): void {
    if (this.#state === 'alive') this.#deathCause ??= how;
    this.kill();
  }

  kill(): void {
    const { pid } = this.#child;
    // Never after the exit: the system may have given the process id to another process.
    if (this.#state !== 'alive' || pid === undefined) return;
    this.worn = true;
    killGroup(pid);
  }

  /** Ends an idle process: it exits when its channel closes, and is killed if it does not. */
  async retire(): Promise<void> {
    this.worn = true;
    this.#channel?.end();
    const timer = setTimeout(() => this.kill(), this.#options.abortGraceMs);
    await this.gone;
    clearTimeout(timer);
  }

  residentBytes(): number | undefined {
    return this.#state === 'alive' && this.pid !== undefined ? residentBytes(this.pid) : undefined;
  }

  checkMemory(): void {
    const bytes = this.residentBytes() ?? 0;
    const { maxResidentBytes } = this.#options;
    if (bytes > maxResidentBytes)
      this.condemn(`memory: ${mebibytes(bytes)} used, ${mebibytes(maxResidentBytes)} allowed`);
  }

  #listen(): void {
    const child = this.#child;
    child.once('error', (error: NodeJS.ErrnoException) => {
      if (child.pid === undefined) this.#end(`it could not be started: ${error.code ?? 'unknown'}`);
    });
    child.once('exit', (code, signal) => void this.#onExit(code, signal));
    child.stdout?.on('data', (chunk: Buffer) => this.stdout.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderrTail = (this.#stderrTail + chunk.toString('latin1')).slice(-STDERR_TAIL);
      this.stderr.push(chunk);
    });
    // A broken pipe means that the process has ended; the `exit` event gives more information.
    for (const stream of [child.stdout, child.stderr, this.#channel]) stream?.on('error', () => {});
    this.#channel?.on('data', (chunk: Buffer) => this.#onData(chunk));
    this.#channel?.once('end', () => {
      // A process that exits also closes its channel, and its `exit` event gives more information.
      setTimeout(() => this.worn || this.condemn('it closed its channel'), EXIT_AFTER_END_MS).unref();
    });
  }

  #onData(chunk: Buffer): void {
    if (this.#deathCause !== undefined) return;
    try {
      for (const body of this.#frames.push(chunk, this.#user?.maxFrameBytes ?? FRAME_SLACK_BYTES)) this.#onFrame(body);
    } catch (error) {
      this.condemn(`protocol: ${error instanceof Error ? error.message : 'unreadable'}`);
    }
  }

  #onFrame(body: Buffer): void {
    const problem = findMessagePackProblem(body);
    if (problem !== undefined) throw new Error(problem);
    const message = decode(body);
    if (typeof message !== 'object' || message === null) throw new Error('a frame that is no message');
    const fields = message as Record<string, unknown>;
    if (fields['type'] === 'worn') this.worn = true;
    this.#user?.onMessage(fields, body.byteLength);
  }

  async #onExit(code: number | null, signal: NodeJS.Signals | null): Promise<void> {
    this.#state = 'exited';
    // Processes that it started are still in the group, and the group's id is not reused while a member is alive.
    if (this.pid !== undefined) killGroup(this.pid);
    await closed(this.#channel);
    this.#end(this.#describeExit(code, signal));
  }

  #describeExit(code: number | null, signal: NodeJS.Signals | null): string {
    if (this.#deathCause !== undefined) return this.#deathCause;
    if (this.#stderrTail.includes(HEAP_EXHAUSTED))
      return `memory: the JavaScript heap has ${this.#options.maxHeapMb} MiB`;
    return signal === null ? `exit code ${code}` : `signal ${signal}`;
  }

  #end(how: string): void {
    if (this.#state === 'gone') return;
    this.#state = 'gone';
    this.#deathCause ??= how;
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
    this.#channel?.destroy();
    this.#user?.onGone(how);
    this.#resolveGone();
  }
}

/** Waits for the end of the stream: frames written just before the exit may still be in the pipe. */
function closed(stream: Readable | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (stream === undefined || stream.closed || stream.destroyed) return resolve();
    const timer = setTimeout(resolve, DRAIN_MS);
    const done = (): void => {
      clearTimeout(timer);
      resolve();
    };
    stream.once('end', done);
    stream.once('close', done);
    if (stream.readableEnded) done();
  });
}

function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 / 1024)} MiB`;
}
