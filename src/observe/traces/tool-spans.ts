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
 * Registers Sallyport as the OpenTelemetry SDK of the process, so that spans which tools make with `@opentelemetry/api` go to the same
 * collector. If another SDK is already registered, nothing changes. Returns a function that undoes the registration.
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
  // Undoing the registration does not shut down the provider: that would also shut down the processor, which belongs to its creator.
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
