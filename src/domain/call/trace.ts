import { createHash } from 'node:crypto';
import type { Trace } from './trace-context.ts';
import { randomText } from '../identity/random-text.ts';

const SPAN_BYTES = 8;
const TRACE_BYTES = 16;
const SAMPLED = 0x01;

type Samples = (traceId: string) => boolean;

export const newSpanId = (): string => randomHex(SPAN_BYTES);

/** Starts a new trace. Its first span stands for the operation that the trace is started for. */
export function startTrace(samples: Samples = () => true): Trace {
  const traceId = randomHex(TRACE_BYTES);
  return { traceId, spanId: newSpanId(), flags: samples(traceId) ? SAMPLED : 0 };
}

/**
 * The trace of a call that was sent without one: derived from the call id, so it is the same in every process and for every run of the
 * call.
 */
export function traceOfCall(callId: string, samples: Samples = () => true): Trace {
  const digest = createHash('sha256').update('trace ').update(callId).digest('hex');
  const [traceId, spanId] = [
    digest.slice(0, 2 * TRACE_BYTES),
    digest.slice(2 * TRACE_BYTES, 2 * (TRACE_BYTES + SPAN_BYTES)),
  ];
  return { traceId, spanId, flags: samples(traceId) ? SAMPLED : 0 };
}

/** A new span of the same trace. */
export function childTrace(parent: Trace): Trace {
  return { ...parent, spanId: newSpanId() };
}

function randomHex(bytes: number): string {
  for (;;) {
    const id = randomText(bytes, 'hex');
    // In W3C Trace Context an id of zeros means that there is none, so another id is generated.
    if (/[^0]/.test(id)) return id;
  }
}
