import { describe, expect, it } from 'vitest';
import { readScrape, type Scrape } from '../../../test/support/scrape.ts';
import type { DiagnosticEvent } from '../../domain/events/diagnostic-event.ts';
import { collectStore, type ReadStore } from './collect-store.ts';
import { createEventCounter } from './count-events.ts';
import { createPrometheusMeter } from './prometheus-meter.ts';

const settled = (tool: string): DiagnosticEvent =>
  ({
    kind: 'call.settled',
    stage: 'settle',
    seq: 1,
    at: 1,
    attemptId: `${tool}/1`,
    tool,
    outcome: 'ok',
    executed: 'yes',
    durationMs: 1,
  }) as unknown as DiagnosticEvent;

describe('counters', () => {
  it('give no label to a tool that no worker serves, and at most the allowed number of labels', async () => {
    const meter = createPrometheusMeter(() => true);
    const count = createEventCounter(meter, { tools: 2, pool: 'p', serves: (tool) => tool.startsWith('real.') });
    for (const tool of ['made.up', 'real.one', 'made.again', 'real.two', 'real.three', 'real.one'])
      count(settled(tool));
    const metrics = readScrape(await meter.text());
    expect(metrics.labelValues('sallyport_calls_total', 'tool')).toStrictEqual(['other', 'real.one', 'real.two']);
    expect(metrics.value('sallyport_calls_total', { tool: 'other' })).toBe(3);
    expect(metrics.value('sallyport_calls_total')).toBe(6);
  });

  it('count the events that were lost', async () => {
    const meter = createPrometheusMeter(() => true);
    const count = createEventCounter(meter, { tools: 2, pool: 'p', serves: () => true });
    count({ kind: 'events.lost', seq: 1, at: 1, lost: 41 });
    expect(readScrape(await meter.text()).value('sallyport_events_lost_total')).toBe(41);
  });
});

describe('what is read from the store', () => {
  const state = {
    store: 's',
    sequence: 9,
    kept: false,
    drained: 4,
    drainedAt: 0,
    now: 9000,
    refuses: 'nothing',
  } as const;
  const healthy = {
    auditLanes: [0],
    queueState: async () => [{ lane: 0, pool: 'p', queued: 3, leased: 1 }],
    listWorkers: async () => [],
    listApprovalStates: async () => [],
    auditState: async () => state,
    readAudit: async () => [{ at: 2000 }],
  } as unknown as ReadStore;

  async function metricsOf(store: ReadStore, before?: ReadStore): Promise<{ metrics: Scrape; told: unknown[] }> {
    const told: unknown[] = [];
    const meter = createPrometheusMeter(() => true);
    if (before !== undefined) await collectStore(meter, before, () => undefined).collect();
    const collector = collectStore(meter, store, (error) => told.push(error));
    await collector.collect();
    await collector.collect();
    return { metrics: readScrape(await meter.text()), told };
  }

  it('says how much waits, and for how long', async () => {
    const { metrics } = await metricsOf(healthy);
    expect(metrics.value('sallyport_store_up')).toBe(1);
    expect(metrics.value('sallyport_queue_depth', { pool: 'p' })).toBe(3);
    expect(metrics.value('sallyport_audit_backlog_records', { lane: '0' })).toBe(5);
    expect(metrics.value('sallyport_audit_lag_seconds', { lane: '0' })).toBe(7);
  });

  it('is missing, not zero and not old, when the store cannot be read; that is logged once', async () => {
    const broken = { ...healthy, queueState: () => Promise.reject(new Error('down')) } as ReadStore;
    const { metrics, told } = await metricsOf(broken, healthy);
    expect(metrics.value('sallyport_store_up')).toBe(0);
    for (const name of ['sallyport_queue_depth', 'sallyport_approvals_pending', 'sallyport_audit_lag_seconds']) {
      expect(metrics.value(name)).toBeUndefined();
    }
    expect(told).toHaveLength(1);
  });
});
