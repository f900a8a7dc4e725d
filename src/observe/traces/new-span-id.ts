import { randomBytes } from 'node:crypto';

/** For a span that nothing else refers to. */
export function newSpanId(): string {
  for (;;) {
    const id = randomBytes(8).toString('hex');
    // The one value that means "none".
    if (id !== '0000000000000000') return id;
  }
}
