import type { ServerEvents } from './event-schema.ts';

const STREAM_LIMITS = Object.freeze({ bufferedBytes: 512 * 1024, heartbeatMs: 15_000 });

export interface StreamOptions {
  /** When the bearer's right to the stream ends, by the clock of this machine. */
  readonly endsAt: number;
  /** Called once, whatever the reason for the end. */
  readonly onEnd: () => void;
  readonly bufferedBytes?: number;
  readonly heartbeatMs?: number;
}

/** The longest time that a timer can be set for. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Server-sent events to one reader. The bytes that it has not read yet are limited, so that no reader makes the gateway's memory grow. A
 * reader that is too slow gets `resync`, which means that it has to read the lists again, and the stream ends.
 */
export class EventStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #encoder = new TextEncoder();
  readonly #onEnd: () => void;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #expiry: NodeJS.Timeout;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #hasEnded = false;

  constructor(options: StreamOptions) {
    const { bufferedBytes = STREAM_LIMITS.bufferedBytes, heartbeatMs = STREAM_LIMITS.heartbeatMs } = options;
    this.#onEnd = options.onEnd;
    this.body = new ReadableStream<Uint8Array>(
      { start: (controller) => void (this.#controller = controller), cancel: () => this.#end() },
      new ByteLengthQueuingStrategy({ highWaterMark: bufferedBytes }),
    );
    this.#write(`retry: 1000\n\n`);
    this.#heartbeat = setInterval(() => this.#write(': still here\n\n'), heartbeatMs);
    this.#heartbeat.unref();
    const leftMs = Math.min(Math.max(options.endsAt - Date.now(), 0), MAX_TIMER_MS);
    this.#expiry = setTimeout(() => this.close(), leftMs);
    this.#expiry.unref();
  }

  /** Sends one event. JSON text has no line breaks, so it is one line of data. */
  send<Name extends keyof ServerEvents>(name: Name, data: ServerEvents[Name], id: string): void {
    this.#write(`id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /**
   * Ends the stream with `resync` because an event could not be sent: the reader has to read the lists again. The event has no id, so the
   * reader resumes from the last event it has.
   */
  drop(): void {
    this.#finish(`event: resync\ndata: ${JSON.stringify({ reason: 'too-slow' } satisfies ServerEvents['resync'])}\n\n`);
  }

  close(): void {
    this.#finish('');
  }

  #write(text: string): void {
    if (this.#hasEnded) return;
    if ((this.#controller.desiredSize ?? 0) <= 0) return this.drop();
    this.#controller.enqueue(this.#encoder.encode(text));
  }

  #finish(last: string): void {
    if (this.#hasEnded) return;
    if (last !== '') this.#controller.enqueue(this.#encoder.encode(last));
    this.#end();
    this.#controller.close();
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearInterval(this.#heartbeat);
    clearTimeout(this.#expiry);
    this.#onEnd();
  }
}
