import { randomFillSync } from 'node:crypto';
import type { Trace } from '../domain/trace-context.ts';

const SPAN_BYTES = 8;
const TRACE_BYTES = 16;
const SAMPLED = 0x01;
/** Fetched from the system for many ids at once, as in `ids.ts`. */
const random = Buffer.allocUnsafe(SPAN_BYTES * 256);
let used = random.length;

export const newSpanId = (): string => randomHex(SPAN_BYTES);

/** A trace of our own; its first span names what it was started for. */
export function startTrace(): Trace {
  return { traceId: randomHex(TRACE_BYTES), spanId: newSpanId(), flags: SAMPLED };
}

/** One more span of the same trace. */
export function childTrace(parent: Trace): Trace {
  return { ...parent, spanId: newSpanId() };
}

function randomHex(bytes: number): string {
  for (;;) {
    if (used + bytes > random.length) {
      randomFillSync(random);
      used = 0;
    }
    const id = random.toString('hex', used, used + bytes);
    used += bytes;
    // The one value that means "none".
    if (/[^0]/.test(id)) return id;
  }
}
