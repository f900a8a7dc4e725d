import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import type { CallOptions, Client, SessionHandle } from '../../src/exports/client.ts';
import { startCollector, type CollectedSpan, type OtlpCollector } from '../support/otlp-collector.ts';
import { eventually } from '../support/process.ts';
import { BACKENDS, stagePlane, type StagedPlane } from '../plane/support/stage-plane.ts';

const MODULES = fileURLToPath(new URL('../fixtures/events-plane/modules', import.meta.url));
const SECRET = 'sk-live-4711-never-in-a-span';
const SPAN_ID = 'b7ad6b7169203331';
const newTraceId = (): string => crypto.randomUUID().replaceAll('-', '');

/** A caller here, a worker in a process of its own, and a collector that both write to. */
describe.each(BACKENDS)('the trace of a call on %s', (backend) => {
  let collector: OtlpCollector;
  let plane: StagedPlane;
  let client: Client;
  let session: SessionHandle;
  beforeAll(async () => {
    collector = await startCollector();
    plane = await stagePlane(backend);
    const telemetry = { traces: { endpoint: collector.endpoint, headers: { authorization: 'Bearer collector' } } };
    await plane.startWorker({ modules: MODULES, telemetry: { traces: { ...telemetry.traces, serviceName: 'tools' } } });
    client = await plane.connect({ telemetry });
    session = await client.openSession({ tenant: 'acme', subject: 'ada', agent: 'main' });
  });
  afterAll(async () => {
    await plane.stop();
    await collector.stop();
  });

  async function call(tool: string, args: JsonObject, options: CallOptions = {}) {
    const answer = await client.call(session, tool, args, { waitMs: 60_000, ...options });
    if (answer.kind !== 'settled') throw new Error(`the call is ${answer.kind}`);
    return answer;
  }

  /** A call in a trace of its own, and its spans by their stage. */
  async function traced(tool: string, args: JsonObject, spans: number, options: CallOptions = {}) {
    const traceId = newTraceId();
    const answer = await call(tool, args, { trace: `00-${traceId}-${SPAN_ID}-01`, ...options });
    return { ...answer, traceId, spans: await collector.until(traceId, spans) };
  }

  const ofStage = (spans: readonly CollectedSpan[], stage: string): CollectedSpan[] =>
    spans.filter(({ attributes }) => attributes['sallyport.stage'] === stage);
  const only = (spans: readonly CollectedSpan[], stage: string): CollectedSpan => {
    const found = ofStage(spans, stage);
    if (found.length !== 1) throw new Error(`${found.length} spans of ${stage}`);
    return found[0]!;
  };

  it.each(['near', 'apart'])(
    'of a tool that is %s is one span per stage below the call, which is below its caller',
    async (module) => {
      const { spans, callId } = await traced(`${module}.end`, { how: 'returned', secret: SECRET }, 7);
      const root = only(spans, 'accept');
      expect(root).toMatchObject({ name: 'call', parentSpanId: SPAN_ID, failed: false });
      const stages = spans.filter((span) => span !== root);
      expect(new Set(stages.map(({ name }) => name))).toStrictEqual(
        new Set(['admit', 'identify', 'gate', `execute_tool ${module}.end`, 'settle', 'answer']),
      );
      expect(new Set(stages.map(({ parentSpanId }) => parentSpanId))).toStrictEqual(new Set([root.spanId]));
      expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(7);
      expect(only(spans, 'execute').attributes).toMatchObject({
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': `${module}.end`,
        'gen_ai.tool.call.id': callId,
        'gen_ai.agent.name': 'main',
        'sallyport.outcome': 'ok',
      });
      const resources = (stage: string): unknown => only(spans, stage).resource['service.name'];
      expect([resources('accept'), resources('execute'), resources('answer')]).toStrictEqual([
        'sallyport',
        'tools',
        'sallyport',
      ]);
      expect(new Set(spans.map(({ resource }) => resource['process.pid'])).size).toBe(2);
    },
  );

  it('has its stages one after the other', async () => {
    const { spans } = await traced('near.end', { how: 'returned', secret: SECRET }, 7);
    const onWorker = ['admit', 'identify', 'gate', 'execute', 'settle'].map((stage) => only(spans, stage));
    expect(onWorker.every(({ startNs, endNs }) => endNs >= startNs)).toBe(true);
    expect(onWorker.slice(1).map(({ startNs }) => startNs)).toStrictEqual(
      onWorker.slice(0, -1).map(({ endNs }) => endNs),
    );
    const [root, answer] = [only(spans, 'accept'), only(spans, 'answer')];
    expect(root.startNs <= answer.startNs && root.endNs === answer.endNs).toBe(true);
  });

  it.each(['near', 'apart'])(
    'of a nested call made by a tool that is %s is below the span of that tool',
    async (module) => {
      const args = { tool: 'near.end', arguments: { how: 'text', secret: SECRET } };
      const { spans, callId } = await traced(`${module}.relay`, args, 14);
      const outer = spans.find(({ name }) => name === `execute_tool ${module}.relay`)!;
      const inner = spans.find(({ name }) => name === 'execute_tool near.end')!;
      const nested = ofStage(spans, 'accept').find(({ parentSpanId }) => parentSpanId === outer.spanId)!;
      expect(inner.parentSpanId).toBe(nested.spanId);
      expect(nested.attributes['sallyport.call.parent_id']).toBe(callId);
      expect(ofStage(spans, 'answer').map(({ parentSpanId }) => parentSpanId)).toContain(nested.spanId);
    },
  );

  it('goes on in the headers that a tool passes on', async () => {
    const { spans, outcome } = await traced('near.trace', {}, 7);
    const { traceparent } = outcome.structured as { traceparent: string };
    expect(traceparent).toBe(`00-${spans[0]!.traceId}-${only(spans, 'execute').spanId}-01`);
  });

  it('of a tool that fails says how, at the stage that failed', async () => {
    const { spans } = await traced('near.end', { how: 'failure', secret: SECRET }, 7);
    expect(only(spans, 'execute')).toMatchObject({
      failed: true,
      attributes: {
        'error.type': 'TOOL_FAILED',
        'sallyport.error.category': 'rate_limited',
        'http.response.status_code': 429,
      },
    });
    expect(only(spans, 'accept').failed).toBe(true);
    expect(only(spans, 'gate').failed).toBe(false);
  });

  it('of a call that came over MCP says so', async () => {
    const { spans } = await traced('near.end', { how: 'text', secret: SECRET }, 7, { via: 'mcp' });
    expect(only(spans, 'accept')).toMatchObject({ kind: 2, attributes: { 'mcp.method.name': 'tools/call' } });
  });

  it('of a caller that does not sample is not sent', async () => {
    const dropped = newTraceId();
    await call('near.end', { how: 'text', secret: SECRET }, { trace: `00-${dropped}-${SPAN_ID}-00` });
    await traced('near.end', { how: 'text', secret: SECRET }, 7);
    expect(collector.spansOf(dropped)).toStrictEqual([]);
  });

  it('of a caller without telemetry begins on the worker, with the call as its root', async () => {
    const answer = await plane.client.call(session, 'near.end', { how: 'text', secret: SECRET }, { waitMs: 60_000 });
    if (answer.kind !== 'settled') throw new Error(`the call is ${answer.kind}`);
    const find = (): CollectedSpan | undefined =>
      collector.spans.find(
        ({ name, attributes }) => name === 'call' && attributes['sallyport.call.id'] === answer.callId,
      );
    const root = await eventually(find, { what: 'the root' });
    const spans = await collector.until(root.traceId, 6);
    expect(root.parentSpanId).toBeUndefined();
    const below = spans.filter((span) => span !== root);
    expect(below.map(({ parentSpanId }) => parentSpanId)).toStrictEqual(below.map(() => root.spanId));
  });

  it('never has an argument, a subject or the token of the collector in it', () => {
    const sent = collector.requests.map(({ text }) => text).join('\n');
    expect(sent.length).toBeGreaterThan(10_000);
    for (const never of [SECRET, '"ada"', 'Bearer collector', session.token]) expect(sent).not.toContain(never);
    expect(new Set(collector.requests.map(({ headers }) => headers.authorization))).toStrictEqual(
      new Set(['Bearer collector']),
    );
  });
});
