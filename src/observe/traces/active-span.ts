import { parseTrace, type TraceContext } from '../../domain/call/trace-context.ts';
import type { ToolRunner } from '../../domain/ports/tool-runner.ts';

/**
 * Wraps a runner so that the `execute` span is active while a tool runs. Spans that the tool starts with `@opentelemetry/api` become its
 * children.
 */
export async function withActiveSpan(runner: ToolRunner): Promise<ToolRunner> {
  const { context, createTraceState, ROOT_CONTEXT, trace } = await import('@opentelemetry/api');
  const contextOf = (given: TraceContext) => {
    const parsed = parseTrace(given.traceparent, given.tracestate);
    if (parsed === undefined) return ROOT_CONTEXT;
    const { traceId, spanId, flags, state } = parsed;
    const traceState = state === undefined ? {} : { traceState: createTraceState(state) };
    return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: flags & 1, ...traceState });
  };
  return {
    run: (request) =>
      request.trace === undefined
        ? runner.run(request)
        : context.with(contextOf(request.trace), () => runner.run(request)),
    close: () => runner.close(),
  };
}
