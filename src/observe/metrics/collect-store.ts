import { DEPLOYMENT_LANE } from '../../domain/audit/audit-record.ts';
import type { ApprovalStates } from '../../domain/ports/approval-store.ts';
import type { AuditReader, AuditStates } from '../../domain/ports/audit-store.ts';
import type { QueueReader } from '../../domain/ports/call-store.ts';
import type { FleetReader } from '../../domain/ports/fleet-registry.ts';
import { boundedLabel } from './label-values.ts';
import type { Collector } from './collect-process.ts';
import type { Meter } from './meter.ts';
import type { GaugeName } from './metric-table.ts';

export type ReadStore = AuditStates & QueueReader & ApprovalStates & FleetReader & AuditReader;

/** The store is read at most once in this time, however often the metrics are scraped. */
const FRESH_MS = 1000;
/** If the store takes longer than this, the scrape goes on without its values. */
const TIMEOUT_MS = 2000;
const MAX_APPROVALS = 1000;
const MAX_POOLS = 200;

const READ: readonly GaugeName[] = [
  'sallyport_queue_depth',
  'sallyport_queue_leased',
  'sallyport_workers',
  'sallyport_fleet_concurrency',
  'sallyport_fleet_running',
  'sallyport_approvals_pending',
  'sallyport_audit_backlog_records',
  'sallyport_audit_lag_seconds',
  'sallyport_audit_alarm',
];

/**
 * Collects the gauges that the store knows for the whole plane. If the store does not answer, a scrape takes two seconds longer and has no
 * values for them.
 */
export function collectStore(meter: Meter, store: ReadStore, onError: (error: unknown) => void): Collector {
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  let isDown = false;
  const poolLabel = boundedLabel(MAX_POOLS);

  async function read(): Promise<void> {
    const [queues, workers, approvals, audits] = await Promise.all([
      store.queueState(),
      store.listWorkers(),
      store.listApprovalStates({ state: 'pending', limit: MAX_APPROVALS }),
      Promise.all(store.auditLanes.map(readLane)),
    ]);
    for (const name of READ) meter.clear(name);
    for (const [pool, { queued, leased }] of sums(queues, ({ pool }) => poolLabel(pool), ['queued', 'leased'])) {
      meter.set('sallyport_queue_depth', { pool }, queued);
      meter.set('sallyport_queue_leased', { pool }, leased);
    }
    for (const [pool, total] of sums(workers, ({ pool }) => poolLabel(pool), ['concurrency', 'running'])) {
      meter.set('sallyport_fleet_concurrency', { pool }, total.concurrency);
      meter.set('sallyport_fleet_running', { pool }, total.running);
    }
    const alive = workers.map((worker) => ({ ...worker, one: 1 }));
    for (const [key, { one }] of sums(alive, ({ pool, state }) => `${poolLabel(pool)} ${state}`, ['one'])) {
      const [pool = '', state = ''] = key.split(' ');
      meter.set('sallyport_workers', { pool, state }, one);
    }
    meter.set('sallyport_approvals_pending', {}, approvals.length);
    for (const { lane, backlog, lagMs, alarm } of audits) {
      meter.set('sallyport_audit_backlog_records', { lane }, backlog);
      meter.set('sallyport_audit_lag_seconds', { lane }, lagMs / 1000);
      meter.set('sallyport_audit_alarm', { lane }, alarm ? 1 : 0);
    }
    readAt = performance.now();
  }

  /** Reads how far the sink of a lane is behind: the age of the oldest record that the sink does not have yet. */
  async function readLane(lane: number) {
    const { sequence, drained, now, kept, alarm } = await store.auditState({ lane });
    const backlog = kept ? 0 : Math.max(0, sequence - drained);
    const [oldest] = backlog === 0 ? [] : await store.readAudit({ lane, fromSequence: drained + 1, limit: 1 });
    const lagMs = oldest === undefined ? 0 : Math.max(0, now - oldest.at);
    return { lane: lane === DEPLOYMENT_LANE ? 'deployment' : String(lane), backlog, lagMs, alarm: alarm !== undefined };
  }

  async function collect(): Promise<void> {
    if (performance.now() - readAt < FRESH_MS) return;
    reading ??= read().finally(() => (reading = undefined));
    try {
      await within(TIMEOUT_MS, reading);
      meter.set('sallyport_store_up', {}, 1);
      isDown = false;
    } catch (error) {
      for (const name of READ) meter.clear(name);
      meter.set('sallyport_store_up', {}, 0);
      if (!isDown) onError(error);
      isDown = true;
    }
  }

  return { collect, close: () => undefined };
}

/** Adds up the numbers of all rows with the same name. */
function sums<Row extends { readonly [Field in Name]: number }, Name extends string>(
  rows: readonly Row[],
  nameOf: (row: Row) => string,
  fields: readonly Name[],
): Map<string, Record<Name, number>> {
  const found = new Map<string, Record<Name, number>>();
  for (const row of rows) {
    const key = nameOf(row);
    const total = found.get(key) ?? (Object.fromEntries(fields.map((field) => [field, 0])) as Record<Name, number>);
    for (const field of fields) total[field] += row[field];
    found.set(key, total);
  }
  return found;
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  try {
    await Promise.race([work, tooLong]);
  } finally {
    clearTimeout(timer);
  }
}
