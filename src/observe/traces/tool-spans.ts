import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import type { Resource } from '@opentelemetry/resources';
import {
  ParentBasedSampler,
  SamplingDecision,
  TracerProvider,
  type Sampler,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace';

interface ToolTracing {
  readonly processor: SpanProcessor;
  readonly resource: Resource;
  readonly samples: (traceId: string) => boolean;
}

/**
 * Makes us the process's OpenTelemetry SDK, so that spans which tools make with `@opentelemetry/api` go where ours go. Where somebody
 * else is that already, nothing changes. Returns how to undo it.
 */
export function registerForTools({ processor, resource, samples }: ToolTracing): () => void {
  const root: Sampler = {
    shouldSample: (_, traceId) => ({
      decision: samples(traceId) ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD,
    }),
    toString: () => 'sallyport',
  };
  const manager = new AsyncLocalStorageContextManager().enable();
  if (!context.setGlobalContextManager(manager)) {
    manager.disable();
    return () => undefined;
  }
  // Not shut down with it: the processor belongs to whoever made it.
  const provider = new TracerProvider({
    sampler: new ParentBasedSampler({ root }),
    resource,
    spanProcessors: [processor],
  });
  const isOurs = trace.setGlobalTracerProvider(provider);
  return () => {
    if (isOurs) trace.disable();
    context.disable();
  };
}
