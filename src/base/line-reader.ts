const LINE_FEED = 10;

/** Splits a stream into lines. Keeps chunks as they arrive and joins them once, when a line is complete. */
export class LineReader {
  readonly #maxBytes: number;
  readonly #chunks: Buffer[] = [];
  #buffered = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Returns the lines that are now complete, without their line feed. `too-long` stands for a line of more than `maxBytes`: it is returned
   * as soon as that is known, once, and the rest of the line is dropped.
   */
  push(chunk: Buffer): (Buffer | 'too-long')[] {
    const lines: (Buffer | 'too-long')[] = [];
    for (let from = 0; from < chunk.byteLength;) {
      const found = chunk.indexOf(LINE_FEED, from);
      const end = found === -1 ? chunk.byteLength : found;
      const wasTooLong = this.#buffered > this.#maxBytes;
      this.#buffered += end - from;
      if (this.#buffered <= this.#maxBytes) this.#chunks.push(chunk.subarray(from, end));
      else {
        this.#chunks.length = 0;
        if (!wasTooLong) lines.push('too-long');
      }
      if (found !== -1) {
        if (this.#buffered <= this.#maxBytes) lines.push(Buffer.concat(this.#chunks));
        this.#chunks.length = 0;
        this.#buffered = 0;
      }
      from = end + 1;
    }
    return lines;
  }
}
