import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { decode, encode } from '../../base/message-pack.ts';

const LENGTH_BYTES = 8;

/**
 * Writes records to a file, each preceded by its length. The writes are synchronous, because the writers of the Redis server are paused meanwhile.
 */
export class RecordWriter {
  readonly #file: number;
  count = 0;
  bytes = 0;

  constructor(path: string) {
    this.#file = openSync(path, 'wx', 0o600);
  }

  write(record: object): void {
    const body = encode(record);
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeBigUInt64BE(BigInt(body.byteLength));
    for (const part of [length, body]) writeFully(this.#file, part);
    this.count += 1;
    this.bytes += LENGTH_BYTES + body.byteLength;
  }

  close(): void {
    closeSync(this.#file);
  }
}

function writeFully(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.byteLength;) at += writeSync(file, bytes, at);
}

export function* readRecords(path: string): Generator<unknown> {
  const file = openSync(path, 'r');
  try {
    for (;;) {
      const length = readFully(file, LENGTH_BYTES);
      if (length.byteLength === 0) return;
      yield decode(readFully(file, Number(length.readBigUInt64BE())));
    }
  } finally {
    closeSync(file);
  }
}

function readFully(file: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  let at = 0;
  while (at < bytes) {
    const read = readSync(file, buffer, at, bytes - at, null);
    if (read === 0) break;
    at += read;
  }
  return buffer.subarray(0, at);
}
