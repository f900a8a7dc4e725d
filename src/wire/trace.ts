import { createHash, randomFillSync } from 'node:crypto';
import type { Trace } from '../domain/trace-context.ts';

const SPAN_BYTES = 8;
const TRACE_BYTES = 16;
const SAMPLED = 0x01;
/** Fetched from the system for many ids at once, as in `ids.ts`. */
const random = Buffer.allocUnsafe(SPAN_BYTES * 256);
let used = random.length;

type Samples = (traceId: string) => boolean;

export const newSpanId = (): string => randomHex(SPAN_BYTES);

/** A trace of our own; its first span names what it was started for. */
export function startTrace(samples: Samples = () => true): Trace {
  const traceId = randomHex(TRACE_BYTES);
  return { traceId, spanId: newSpanId(), flags: samples(traceId) ? SAMPLED : 0 };
}

/** Of a call that brought none: the same wherever and however often it is run. */
export function traceOfCall(callId: string, samples: Samples = () => true): Trace {
  const digest = createHash('sha256').update('trace ').update(callId).digest('hex');
  const [traceId, spanId] = [
    digest.slice(0, 2 * TRACE_BYTES),
    digest.slice(2 * TRACE_BYTES, 2 * (TRACE_BYTES + SPAN_BYTES)),
  ];
  return { traceId, spanId, flags: samples(traceId) ? SAMPLED : 0 };
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
