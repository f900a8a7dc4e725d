import type { TraceIds } from '../../domain/events/diagnostic-event.ts';
import type { Stage } from '../../domain/call/stages.ts';
import { isSampled, type Trace } from '../../domain/call/trace-context.ts';
import { newSpanId } from '../../domain/call/trace.ts';

/** The spans of one call, below the host's span: one per stage, as on a worker. */
export class CallSpans {
  readonly #trace: Trace;
  readonly #spanIds: Partial<Record<Stage, string>> = {};

  constructor(trace: Trace) {
    this.#trace = trace;
  }

  idsOf(stage: Stage): TraceIds {
    const { traceId, spanId: parentSpanId } = this.#trace;
    const spanId = (this.#spanIds[stage] ??= newSpanId());
    return { traceId, spanId, parentSpanId, sampled: isSampled(this.#trace) };
  }
}
