import type { Socket } from 'node:net';
import { Packr } from 'msgpackr';
import { PlaneError, type PlaneErrorCode } from '../../domain/errors/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import { PLANE_ERRORS } from '../../domain/errors/plane-errors.ts';

/** Both sides must have the same version. It is raised with every change of frames, methods, requests or answers. */
export const PROTOCOL_VERSION = 5;

/** Not a method of the port: only the owner can copy the file that it has locked. */
export const COPY_METHOD = 'copyStoreFile';

/** `[id, method, argument]` */
export type RequestMessage = readonly [id: number, method: string, argument: unknown];
/** `[id, 1, value]` or `[id, 0, error]` */
export type AnswerMessage = readonly [id: number, ok: 0 | 1, value: unknown];

export interface CarriedError {
  readonly code: string;
  readonly facts: JsonObject;
}

/** The first frame of a connection, from the store to the client. */
export interface Hello {
  readonly protocol: number;
  readonly pid: number;
  readonly incarnation: string;
  readonly lanes: number;
}

// Bytes are copied out of the frame: a view would keep the whole frame in memory, and send all of it when posted to a thread.
const packr = new Packr({ useRecords: false, moreTypes: false, int64AsType: 'number', copyBuffers: true });

/** Encodes messages into a frame with its own memory, so that it can be transferred to another thread. */
export function encodeFrame(content: unknown): Uint8Array<ArrayBuffer> {
  return new Uint8Array(packr.pack(content));
}

/**
 * Decodes a frame. The decoder returns bytes in the class of its input, which is a Buffer from a socket and a Uint8Array from a thread. So
 * a Buffer is wrapped: callers get plain Uint8Arrays, whichever way the frame came.
 */
export function decodeFrame({ buffer, byteOffset, byteLength }: Uint8Array): unknown {
  return packr.unpack(new Uint8Array(buffer, byteOffset, byteLength));
}

export function carryError(error: unknown): CarriedError {
  if (error instanceof PlaneError) return { code: error.code, facts: error.facts };
  return { code: 'INTERNAL', facts: { problem: error instanceof Error ? error.message : String(error) } };
}

export function rebuildError({ code, facts }: CarriedError): PlaneError {
  if (Object.hasOwn(PLANE_ERRORS, code)) return new PlaneError(code as PlaneErrorCode, facts);
  return new PlaneError('INTERNAL', { problem: `the store answered with the unknown code ${code}` });
}

const LENGTH_BYTES = 4;
/** Larger than anything that the limits of calls and outcomes allow. */
const MAX_FRAME_BYTES = 512 * 1024 * 1024;

export function writeFrame(socket: Socket, frame: Uint8Array): void {
  const length = Buffer.allocUnsafe(LENGTH_BYTES);
  length.writeUInt32BE(frame.byteLength);
  socket.cork();
  socket.write(length);
  socket.write(frame);
  socket.uncork();
}

/** Puts frames together from the chunks of a socket. Throws for a length that no peer of this program would send. */
export class FrameReader {
  readonly #onFrame: (frame: Uint8Array) => void;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(onFrame: (frame: Uint8Array) => void) {
    this.#onFrame = onFrame;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.byteLength;
    for (let length = this.#nextLength(); length !== undefined; length = this.#nextLength()) {
      if (this.#bytes < LENGTH_BYTES + length) return;
      const all = this.#joined();
      const end = LENGTH_BYTES + length;
      this.#chunks = all.byteLength > end ? [all.subarray(end)] : [];
      this.#bytes = all.byteLength - end;
      this.#onFrame(all.subarray(LENGTH_BYTES, end));
    }
  }

  #nextLength(): number | undefined {
    if (this.#bytes < LENGTH_BYTES) return undefined;
    const first = this.#chunks[0]!;
    const length = (first.byteLength < LENGTH_BYTES ? this.#joined() : first).readUInt32BE(0);
    if (length > MAX_FRAME_BYTES) throw new RangeError(`a frame of ${length} bytes`);
    return length;
  }

  #joined(): Buffer {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0]!;
  }
}
