import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { STAGES } from '../../src/domain/call/stages.ts';
import type { CallAnswer, SessionHandle } from '../../src/exports/client.ts';
import { startTelemetry, type Telemetry } from '../../src/observe/telemetry.ts';
import { eventually } from '../support/process.ts';
import { SILENT_LOG } from '../support/sample-call.ts';
import { readScrape, scrape, type Scrape } from '../support/scrape.ts';
import { BACKENDS, OPEN_POLICY, stagePlane, type PlaneWorker, type StagedPlane } from '../plane/support/stage-plane.ts';

const MODULES = fileURLToPath(new URL('../fixtures/events-plane/modules', import.meta.url));
const SUBJECT = 'subject-never-a-label';
const OK_CALLS = 7;
const FAILED_CALLS = 3;
const NESTED_CALLS = 2;

/** A real worker with metrics, and the gateway's metrics of the same store. */
describe.each(BACKENDS)('metrics on %s', (backend) => {
  let plane: StagedPlane;
  let worker: PlaneWorker;
  let session: SessionHandle;
  let telemetry: Telemetry;
  const planeMetrics = async (): Promise<Scrape> => readScrape((await telemetry.metricsText?.()) ?? '');
  beforeAll(async () => {
    plane = await stagePlane(backend);
    worker = await plane.startWorker({
      modules: MODULES,
      pool: 'tools',
      concurrency: 5,
      health: { port: 0 },
      telemetry: { metrics: { tools: 2 } },
    });
    session = await plane.openSession(SUBJECT);
    const needs = { role: 'gateway', release: '0.0.0', instance: 'test', log: SILENT_LOG } as const;
    telemetry = (await startTelemetry({ metrics: {} }, needs))!;
    telemetry.followStore(plane.store);
  });
  afterAll(async () => {
    await telemetry.close();
    await plane.stop();
  });

  const end = (tool: string, how: string, secret = 'x'): Promise<CallAnswer> =>
    plane.client.call(session, tool, { how, secret }, { waitMs: 60_000 });
  const until = (isThere: (metrics: Scrape) => boolean, what: string): Promise<Scrape> =>
    eventually(
      async () => {
        const metrics = await scrape(worker.healthUrl);
        return isThere(metrics) ? metrics : undefined;
      },
      { what },
    );

  it('of a worker count the calls that were made, by outcome and tool, and the time of each stage', async () => {
    for (let each = 0; each < OK_CALLS; each += 1) await end('near.end', 'returned');
    for (let each = 0; each < FAILED_CALLS; each += 1) await end('near.end', 'failure');
    for (let each = 0; each < NESTED_CALLS; each += 1) {
      const args = { tool: 'near.end', arguments: { how: 'text', secret: 'x' } };
      await plane.client.call(session, 'near.relay', args, { waitMs: 60_000 });
    }
    const all = OK_CALLS + FAILED_CALLS + 2 * NESTED_CALLS;
    const metrics = await until((each) => each.value('sallyport_calls_total') === all, `${all} calls`);
    const calls = (outcome: string, tool: string): number | undefined =>
      metrics.value('sallyport_calls_total', { outcome, tool, pool: 'tools' });
    expect([calls('ok', 'near.end'), calls('failed', 'near.end'), calls('ok', 'near.relay')]).toStrictEqual([
      OK_CALLS + NESTED_CALLS,
      FAILED_CALLS,
      NESTED_CALLS,
    ]);
    const errors = { stage: 'execute', code: 'TOOL_FAILED', category: 'rate_limited' };
    expect(metrics.value('sallyport_call_errors_total', errors)).toBe(FAILED_CALLS);
    expect(metrics.value('sallyport_calls_made_total', { result: 'accepted', via: 'client' })).toBe(NESTED_CALLS);
    expect(metrics.value('sallyport_calls_held_total', { how: 'first' })).toBe(all);
    const took = STAGES.map((stage) => metrics.value('sallyport_stage_duration_seconds_count', { stage }));
    expect(took).toStrictEqual([NESTED_CALLS, all, all, all, all, all, NESTED_CALLS]);
    expect(metrics.value('sallyport_tool_duration_seconds_count', { tool: 'near.end' })).toBe(all - NESTED_CALLS);
    expect(metrics.value('sallyport_worker_concurrency', { pool: 'tools' })).toBe(5);
    expect(metrics.value('process_resident_memory_bytes')).toBeGreaterThan(1e6);
    expect(metrics.value('sallyport_events_lost_total')).toBe(0);
  });

  it('have no more tools in their labels than allowed, and no subjects, sessions or calls', async () => {
    await end('apart.end', 'text', 'a-secret-argument');
    const metrics = await until((each) => (each.value('sallyport_calls_total', { tool: 'other' }) ?? 0) > 0, 'other');
    expect(metrics.labelValues('sallyport_calls_total', 'tool')).toStrictEqual(['near.end', 'near.relay', 'other']);
    for (const never of [SUBJECT, session.id, session.run, 'a-secret-argument'])
      expect(metrics.text).not.toContain(never);
  });

  it('count what the gate stops, and what was not allowed', async () => {
    await plane.setPolicy({ ...OPEN_POLICY, permissions: {} });
    await end('near.end', 'text');
    await plane.setPolicy(OPEN_POLICY);
    const metrics = await until(
      (each) => (each.value('sallyport_calls_total', { outcome: 'denied' }) ?? 0) > 0,
      'denied',
    );
    expect(metrics.value('sallyport_call_errors_total', { category: 'permission' })).toBe(1);
  });

  it('leave the trace of a caller as it is: what is only counted needs no spans', async () => {
    const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const given = await plane.client.call(session, 'near.trace', {}, { trace, waitMs: 60_000 });
    const none = await plane.client.call(session, 'near.trace', {}, { waitMs: 60_000 });
    const tracesOf = (answer: CallAnswer): unknown => answer.kind === 'settled' && answer.outcome.structured;
    expect([tracesOf(given), tracesOf(none)]).toStrictEqual([{ frozen: true, traceparent: trace }, { frozen: true }]);
  });

  it('of the plane show queues, workers and the audit, as the store has them', async () => {
    const before = await planeMetrics();
    expect(before.value('sallyport_store_up')).toBe(1);
    expect(before.value('sallyport_workers', { pool: 'tools', state: 'serving' })).toBe(1);
    expect(before.value('sallyport_fleet_concurrency', { pool: 'tools' })).toBe(5);
    expect(before.value('sallyport_approvals_pending')).toBe(0);
    const answer = await plane.client.call(session, 'near.wait', {}, { waitMs: 0 });
    if (answer.kind !== 'pending') throw new Error(`the call is ${answer.kind}`);
    const held = await eventually(
      async () => {
        const now = await planeMetrics();
        return now.value('sallyport_queue_leased', { pool: 'tools' }) === 1 ? now : undefined;
      },
      { what: 'a held call' },
    );
    expect(held.value('sallyport_queue_depth', { pool: 'tools' })).toBe(0);
    await until((each) => each.value('sallyport_worker_running', { pool: 'tools' }) === 1, 'a running call');
    await plane.client.cancel(session, answer.callId);
    // No gateway drains in this test: on Redis every record waits, and the embedded store keeps its own.
    const waits = held.value('sallyport_audit_backlog_records', { lane: '0' })!;
    expect(waits > 0).toBe(backend === 'redis');
    expect(held.value('sallyport_audit_lag_seconds', { lane: '0' })! > 0).toBe(backend === 'redis');
  });
});
