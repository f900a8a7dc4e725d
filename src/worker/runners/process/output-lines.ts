import { StringDecoder } from 'node:string_decoder';
import { toLogText } from '../cap-log.ts';

const MAX_LINE = 4096;

/** Splits a tool's output into lines. Between calls there is no receiver, and the output is dropped. */
export class OutputLines {
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';
  #left = 0;
  #deliver: ((line: string) => void) | undefined;

  /** Begins the output of one call. Bytes above `maxBytes` are read and dropped, so that the tool does not block on its output. */
  attach(deliver: (line: string) => void, maxBytes: number): void {
    this.#rest = '';
    this.#left = maxBytes;
    this.#deliver = deliver;
  }

  detach(): void {
    if (this.#rest !== '') this.#emit(this.#rest);
    this.#rest = '';
    this.#deliver = undefined;
  }

  push(chunk: Buffer): void {
    if (this.#deliver === undefined || this.#left <= 0) return;
    const within = chunk.subarray(0, this.#left);
    this.#left -= within.byteLength;
    const lines = (this.#rest + this.#decoder.write(within)).split('\n');
    this.#rest = (lines.pop() ?? '').slice(0, MAX_LINE);
    for (const line of lines) this.#emit(line);
  }

  #emit(line: string): void {
    const text = toLogText(line.endsWith('\r') ? line.slice(0, -1) : line);
    if (text.trim() !== '') this.#deliver?.(text);
  }
}
