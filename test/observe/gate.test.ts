import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Rule } from '../../src/domain/policy/rule.ts';
import { startTelemetry, type Telemetry } from '../../src/observe/telemetry.ts';
import { startCollector, type OtlpCollector } from '../support/otlp-collector.ts';
import { eventually } from '../support/process.ts';
import { SILENT_LOG } from '../support/sample-call.ts';
import { readScrape, scrape, type Scrape } from '../support/scrape.ts';
import { decide, GATE_MODULES, letter, park, policyWith } from '../plane/support/gate-plane.ts';
import { BACKENDS, stagePlane, type PlaneWorker, type StagedPlane } from '../plane/support/stage-plane.ts';

const OUTGOING: Rule = { id: 'outgoing', verdict: 'ask', tools: ['desk.send'], reason: 'It leaves the house.' };
const NEVER: Rule = { id: 'never', verdict: 'deny', tools: ['desk.send'] };

describe.each(BACKENDS)('the gate in metrics and traces on %s', (backend) => {
  let collector: OtlpCollector;
  let plane: StagedPlane;
  let worker: PlaneWorker;
  let ofPlane: Telemetry;
  beforeAll(async () => {
    collector = await startCollector();
    plane = await stagePlane(backend);
    worker = await plane.startWorker({
      modules: GATE_MODULES,
      health: { port: 0 },
      telemetry: { metrics: {}, traces: { endpoint: collector.endpoint } },
    });
    const needs = { role: 'gateway', release: '0.0.0', instance: 'test', log: SILENT_LOG } as const;
    ofPlane = (await startTelemetry({ metrics: {} }, needs))!;
    ofPlane.followStore(plane.store);
  });
  afterAll(async () => {
    await ofPlane.close();
    await plane.stop();
    await collector.stop();
  });

  const until = (isThere: (metrics: Scrape) => boolean, what: string): Promise<Scrape> =>
    eventually(
      async () => {
        const metrics = await scrape(worker.healthUrl);
        return isThere(metrics) ? metrics : undefined;
      },
      { what },
    );
  const pending = async (): Promise<number | undefined> =>
    readScrape((await ofPlane.metricsText?.()) ?? '').value('sallyport_approvals_pending');

  it('shows a question, its answer, and both parts of the call in one trace', async () => {
    await plane.setPolicy(policyWith([OUTGOING]));
    const session = await plane.openSession();
    const parked = await park(plane, session, 'desk.send', letter(plane, 'hello'));
    await eventually(async () => (await pending()) === 1, { what: 'a question that waits' });
    await decide(plane, parked.approval, 'allow-once');
    expect((await parked.outcome).kind).toBe('ok');
    const metrics = await until((each) => (each.value('sallyport_approvals_decided_total') ?? 0) > 0, 'the answer');
    expect(metrics.value('sallyport_approvals_asked_total')).toBe(1);
    expect(metrics.value('sallyport_approvals_decided_total', { resolution: 'allow-once' })).toBe(1);
    expect(metrics.value('sallyport_approval_decision_seconds_count', { resolution: 'allow-once' })).toBe(1);
    expect(metrics.value('sallyport_calls_held_total', { how: 'resumed' })).toBe(1);
    expect(metrics.value('sallyport_calls_given_up_total', { how: 'parked' })).toBe(1);
    // The time that a person takes to decide is not time in the queue.
    expect(metrics.value('sallyport_stage_duration_seconds_count', { stage: 'admit' })).toBe(1);
    await eventually(async () => (await pending()) === 0, { what: 'no question that waits' });
    const spans = await eventually(
      () => {
        const own = collector.spans.filter(({ attributes }) => attributes['sallyport.call.id'] === parked.callId);
        return own.some(({ name }) => name === 'call') ? own : undefined;
      },
      { what: 'the root span' },
    );
    const root = spans.find(({ name }) => name === 'call')!;
    expect(new Set(spans.map(({ traceId }) => traceId))).toStrictEqual(new Set([root.traceId]));
    const below = spans.filter((span) => span !== root);
    expect(new Set(below.map(({ parentSpanId }) => parentSpanId))).toStrictEqual(new Set([root.spanId]));
    expect(below.filter(({ name }) => name === 'gate')).toHaveLength(2);
    expect(root.endNs).toBe(below.find(({ name }) => name === 'settle')!.endNs);
  });

  it('shows what a rule has stopped', async () => {
    await plane.setPolicy(policyWith([NEVER]));
    const session = await plane.openSession();
    await plane.client.call(session, 'desk.send', letter(plane, 'no'), { waitMs: 60_000 });
    const denied = { stage: 'gate', code: 'RULE_DENIED' };
    const metrics = await until((each) => each.value('sallyport_call_errors_total', denied) === 1, 'the rule');
    expect(metrics.value('sallyport_calls_blocked_total', { by: 'rule' })).toBe(1);
  });

  it('shows loops that it warned of and stopped', async () => {
    await plane.setPolicy(policyWith([], { loops: {} }));
    const session = await plane.openSession();
    const ask = () => plane.client.call(session, 'desk.send', letter(plane, 'again'), { waitMs: 60_000 });
    const kindOf = async (): Promise<string> => {
      const answer = await ask();
      return answer.kind === 'settled' ? answer.outcome.kind : answer.kind;
    };
    let tries = 0;
    while ((await kindOf()) !== 'blocked' && tries < 100) tries += 1;
    const metrics = await until(
      (each) => (each.value('sallyport_loops_total', { result: 'blocked' }) ?? 0) > 0,
      'a loop',
    );
    expect(metrics.value('sallyport_loops_total', { result: 'warned' })).toBeGreaterThan(0);
    expect(metrics.value('sallyport_calls_blocked_total', { by: 'loop' })).toBeGreaterThan(0);
  });
});
