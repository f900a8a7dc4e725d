import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCollector, type OtlpCollector } from '../support/otlp-collector.ts';
import { stagePlane, type StagedPlane } from '../plane/support/stage-plane.ts';

const MODULES = fileURLToPath(new URL('../fixtures/observe-plane/modules', import.meta.url));

describe('spans that a tool makes with @opentelemetry/api', () => {
  let collector: OtlpCollector;
  let plane: StagedPlane;
  beforeAll(async () => {
    collector = await startCollector();
    plane = await stagePlane('embedded');
    await plane.startWorker({ modules: MODULES, telemetry: { traces: { endpoint: collector.endpoint } } });
  });
  afterAll(async () => {
    await plane.stop();
    await collector.stop();
  });

  it('are below the span of its run, and go to the same collector', async () => {
    const session = await plane.openSession();
    const traceId = crypto.randomUUID().replaceAll('-', '');
    const trace = `00-${traceId}-b7ad6b7169203331-01`;
    const calls = Array.from({ length: 3 }, () =>
      plane.client.call(session, 'own.span', {}, { trace, waitMs: 60_000 }),
    );
    const own = (await Promise.all(calls)).map((answer) => answer.kind === 'settled' && answer.outcome.structured);
    const spans = await collector.until(traceId, 3 * 6);
    const runs = spans.filter(({ name }) => name === 'execute_tool own.span').map(({ spanId }) => spanId);
    const made = spans.filter(({ name }) => name === 'look-up');
    expect(new Set(made.map(({ spanId }) => spanId))).toStrictEqual(
      new Set(own.map((answer) => (answer as { spanId: string }).spanId)),
    );
    // Each span has another parent, so calls that run at the same time do not get each other's span.
    expect(new Set(made.map(({ parentSpanId }) => parentSpanId))).toStrictEqual(new Set(runs));
    expect(new Set(runs).size).toBe(3);
  });
});
