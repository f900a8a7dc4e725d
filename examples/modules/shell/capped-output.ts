/** Keeps the beginning and the end of an output: the beginning shows what was done, the end shows how it ended. */
export class CappedOutput {
  readonly #halfBytes: number;
  readonly #head: Buffer[] = [];
  readonly #tail: Buffer[] = [];
  #headBytes = 0;
  #tailBytes = 0;
  #droppedBytes = 0;

  constructor(maxBytes: number) {
    this.#halfBytes = Math.floor(maxBytes / 2);
  }

  add(chunk: Buffer): void {
    const forHead = chunk.subarray(0, this.#halfBytes - this.#headBytes);
    if (forHead.byteLength > 0) this.#head.push(forHead);
    this.#headBytes += forHead.byteLength;
    const forTail = chunk.subarray(forHead.byteLength);
    if (forTail.byteLength > 0) this.#tail.push(forTail);
    this.#tailBytes += forTail.byteLength;
    for (let oldest = this.#tail[0]; oldest !== undefined; oldest = this.#tail[0]) {
      if (this.#tailBytes - oldest.byteLength < this.#halfBytes) break;
      this.#tail.shift();
      this.#tailBytes -= oldest.byteLength;
      this.#droppedBytes += oldest.byteLength;
    }
  }

  get truncated(): boolean {
    return this.#leftOutBytes > 0;
  }

  get text(): string {
    const tail = Buffer.concat(this.#tail);
    if (!this.truncated) return Buffer.concat([...this.#head, tail]).toString('utf8');
    const head = Buffer.concat(this.#head).toString('utf8');
    const end = tail.subarray(Math.max(0, tail.byteLength - this.#halfBytes)).toString('utf8');
    return `${head}\n[… ${this.#leftOutBytes} bytes left out …]\n${end}`;
  }

  get #leftOutBytes(): number {
    return this.#droppedBytes + Math.max(0, this.#tailBytes - this.#halfBytes);
  }
}
