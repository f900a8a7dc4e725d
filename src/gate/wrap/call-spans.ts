import type { TraceIds } from '../../domain/diagnostic-event.ts';
import type { Stage } from '../../domain/stages.ts';
import { isSampled, type Trace } from '../../domain/trace-context.ts';
import { newSpanId } from '../../wire/trace.ts';

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
