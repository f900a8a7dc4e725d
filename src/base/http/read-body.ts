import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

const DECOMPRESSORS: Readonly<Record<string, (() => Transform) | undefined>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Reads a response up to the limit, which counts bytes after decompression: a few kilobytes can unpack to gigabytes. */
export async function readBody(response: IncomingMessage, maxBytes: number): Promise<{ bytes: Buffer; cut: boolean }> {
  const chunks: Buffer[] = [];
  let left = maxBytes;
  for await (const chunk of decompressed(response) as AsyncIterable<Buffer>) {
    chunks.push(chunk.subarray(0, left));
    left -= chunk.byteLength;
    if (left < 0) return { bytes: Buffer.concat(chunks), cut: true };
  }
  return { bytes: Buffer.concat(chunks), cut: false };
}

function decompressed(response: IncomingMessage): Readable {
  const encoding = response.headers['content-encoding']?.trim().toLowerCase() ?? '';
  const decompressor = Object.hasOwn(DECOMPRESSORS, encoding) ? DECOMPRESSORS[encoding]?.() : undefined;
  // The code that reads the returned stream gets every error. Without the empty callback, `pipeline` would throw the error a second time.
  return decompressor === undefined ? response : pipeline(response, decompressor, () => {});
}
