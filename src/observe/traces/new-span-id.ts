import { randomBytes } from 'node:crypto';

/** A random id for a span that no other span refers to. */
export function newSpanId(): string {
  for (;;) {
    const id = randomBytes(8).toString('hex');
    // In OpenTelemetry, an id of only zeros means "no span".
    if (id !== '0000000000000000') return id;
  }
}
