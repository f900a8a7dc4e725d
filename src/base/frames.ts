import { encode } from './message-pack.ts';

const HEADER_BYTES = 4;
/** Max bytes of a frame in addition to its payload, for the run number and the names of fields. */
export const FRAME_SLACK_BYTES = 64 * 1024;

/** Encodes a message: four bytes of length, then MessagePack. */
export function encodeFrame(message: object): Buffer {
  const body = encode(message);
  const frame = Buffer.allocUnsafe(HEADER_BYTES + body.byteLength);
  frame.writeUInt32BE(body.byteLength, 0);
  frame.set(body, HEADER_BYTES);
  return frame;
}

/** Splits a stream into frames. Keeps chunks as they arrive and joins them once, when a frame is complete. */
export class FrameReader {
  readonly #chunks: Buffer[] = [];
  #buffered = 0;
  #wanted: number | undefined;

  /** Returns the bodies that are now complete. Throws RangeError if a frame announces more than `maxBytes`. */
  push(chunk: Buffer, maxBytes: number): Buffer[] {
    this.#chunks.push(chunk);
    this.#buffered += chunk.byteLength;
    const bodies: Buffer[] = [];
    for (;;) {
      if (this.#wanted === undefined) {
        if (this.#buffered < HEADER_BYTES) return bodies;
        this.#wanted = this.#take(HEADER_BYTES).readUInt32BE(0);
        if (this.#wanted > maxBytes) throw new RangeError(`a frame of ${this.#wanted} bytes; the limit is ${maxBytes}`);
      }
      if (this.#buffered < this.#wanted) return bodies;
      bodies.push(this.#take(this.#wanted));
      this.#wanted = undefined;
    }
  }

  #take(bytes: number): Buffer {
    const joined = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    this.#chunks.length = 0;
    this.#buffered = joined.byteLength - bytes;
    if (this.#buffered > 0) this.#chunks.push(joined.subarray(bytes));
    return joined.subarray(0, bytes);
  }
}
