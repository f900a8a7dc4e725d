/** Bucket bounds in seconds. A call may take less than a millisecond, and an approval may take days. */
const CALL_SECONDS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
] as const;
const DECISION_SECONDS = [1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 24 * 3600] as const;

interface MetricEntry {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  /** Never a subject, session, run or call, because each new value is a new series. */
  readonly labels: readonly string[];
  /** Which kind of process serves the metric. */
  readonly where: 'worker' | 'caller' | 'plane' | 'all';
  readonly says: string;
  readonly buckets?: readonly number[];
}

/**
 * All metrics. `docs/metrics.md` is generated from this table, the dashboard is checked against it, and a metric that is not in it cannot
 * be counted. `where` is `caller` if the metric is served where calls are made, that is, by the gateway or by your own program. It is
 * `plane` if the gateway or `dev` reads the metric from the store.
 */
export const METRICS = {
  sallyport_calls_total: {
    kind: 'counter',
    labels: ['outcome', 'tool', 'pool'],
    where: 'worker',
    says: 'Calls settled by this worker.',
  },
  sallyport_call_errors_total: {
    kind: 'counter',
    labels: ['stage', 'code', 'category'],
    where: 'all',
    says: 'Calls that ended otherwise than `ok`, by the code of errors.md and the stage that owns it. On a caller: those refused before they were accepted.',
  },
  sallyport_calls_made_total: {
    kind: 'counter',
    labels: ['result', 'via'],
    where: 'all',
    says: 'Calls made here, by the client, the gateway or a tool: `accepted`, `attached`, `replayed` or `refused`.',
  },
  sallyport_calls_held_total: {
    kind: 'counter',
    labels: ['how'],
    where: 'worker',
    says: 'Calls taken up: `first`, `recovered` from a lost worker, or `resumed` after a person was asked.',
  },
  sallyport_calls_given_up_total: {
    kind: 'counter',
    labels: ['how'],
    where: 'worker',
    says: 'Calls that this worker did not end: `abandoned`, `lost`, `left` or `parked`.',
  },
  sallyport_calls_expired_total: {
    kind: 'counter',
    labels: ['overdue'],
    where: 'worker',
    says: 'Calls ended by the reaper of this worker; overdue: a worker had them.',
  },
  sallyport_calls_cancelled_total: {
    kind: 'counter',
    labels: ['answer'],
    where: 'caller',
    says: 'Cancellations asked for here, by what they met.',
  },
  sallyport_stage_duration_seconds: {
    kind: 'histogram',
    labels: ['stage'],
    where: 'all',
    buckets: CALL_SECONDS,
    says: 'Time in each stage. `accept`: until it was accepted; `admit`: in the queue; `answer`: from the acceptance to the answer.',
  },
  sallyport_call_duration_seconds: {
    kind: 'histogram',
    labels: ['outcome'],
    where: 'worker',
    buckets: CALL_SECONDS,
    says: 'Time from the moment a worker has a call until it is settled.',
  },
  sallyport_tool_duration_seconds: {
    kind: 'histogram',
    labels: ['tool'],
    where: 'worker',
    buckets: CALL_SECONDS,
    says: "Time in the tool's own code.",
  },
  sallyport_calls_blocked_total: {
    kind: 'counter',
    labels: ['by'],
    where: 'worker',
    says: 'Calls that the gate stopped: `rule`, `hook`, `loop`, `budget`, `approval` or `other`.',
  },
  sallyport_loops_total: {
    kind: 'counter',
    labels: ['detector', 'result'],
    where: 'worker',
    says: 'Loops seen: `warned` or `blocked`.',
  },
  sallyport_approvals_asked_total: {
    kind: 'counter',
    labels: ['severity'],
    where: 'worker',
    says: 'Questions put to people.',
  },
  sallyport_approvals_decided_total: {
    kind: 'counter',
    labels: ['resolution'],
    where: 'worker',
    says: 'Questions that have their answer.',
  },
  sallyport_approval_decision_seconds: {
    kind: 'histogram',
    labels: ['resolution'],
    where: 'worker',
    buckets: DECISION_SECONDS,
    says: 'Time from a question to its answer.',
  },
  sallyport_hooks_failed_total: {
    kind: 'counter',
    labels: ['hook', 'how'],
    where: 'worker',
    says: 'Hooks that did not answer as they must.',
  },
  sallyport_effects_total: {
    kind: 'counter',
    labels: ['platform', 'result'],
    where: 'plane',
    says: 'Attempts to deliver what tools do on platforms: `delivered`, `failed`, `retried` or `lost` to another gateway.',
  },
  sallyport_worker_concurrency: {
    kind: 'gauge',
    labels: ['pool'],
    where: 'worker',
    says: 'Calls that this worker runs at the same time, at most.',
  },
  sallyport_worker_running: { kind: 'gauge', labels: ['pool'], where: 'worker', says: 'Calls that it runs now.' },
  sallyport_queue_depth: {
    kind: 'gauge',
    labels: ['pool'],
    where: 'plane',
    says: 'Calls that stand in the queue and are with no worker.',
  },
  sallyport_queue_leased: { kind: 'gauge', labels: ['pool'], where: 'plane', says: 'Calls that workers hold.' },
  sallyport_workers: { kind: 'gauge', labels: ['pool', 'state'], where: 'plane', says: 'Workers that are alive.' },
  sallyport_fleet_concurrency: {
    kind: 'gauge',
    labels: ['pool'],
    where: 'plane',
    says: 'Calls that all workers of a pool run at the same time, at most.',
  },
  sallyport_fleet_running: { kind: 'gauge', labels: ['pool'], where: 'plane', says: 'Calls that they run now.' },
  sallyport_approvals_pending: {
    kind: 'gauge',
    labels: [],
    where: 'plane',
    says: 'Calls parked until a person answers. Counted up to 1000.',
  },
  sallyport_audit_backlog_records: {
    kind: 'gauge',
    labels: ['lane'],
    where: 'plane',
    says: 'Records that no sink has yet.',
  },
  sallyport_audit_lag_seconds: {
    kind: 'gauge',
    labels: ['lane'],
    where: 'plane',
    says: 'Age of the oldest record that no sink has; 0 while none waits.',
  },
  sallyport_audit_alarm: {
    kind: 'gauge',
    labels: ['lane'],
    where: 'plane',
    says: '1 while the drain of this lane has stopped because of what it found.',
  },
  sallyport_store_up: {
    kind: 'gauge',
    labels: [],
    where: 'plane',
    says: '1 if the store could be read for this scrape. Otherwise what is read from it is missing.',
  },
  sallyport_events_lost_total: {
    kind: 'counter',
    labels: [],
    where: 'all',
    says: 'Diagnostic events that were not counted, because the process was too busy.',
  },
  sallyport_spans_total: {
    kind: 'counter',
    labels: ['result'],
    where: 'all',
    says: 'Spans of traces: `exported`, `failed`, or `dropped` because too many wait for the collector.',
  },
  process_start_time_seconds: { kind: 'gauge', labels: [], where: 'all', says: 'When this process started.' },
  process_cpu_seconds_total: { kind: 'counter', labels: [], where: 'all', says: 'Processor time it has used.' },
  process_resident_memory_bytes: { kind: 'gauge', labels: [], where: 'all', says: 'Memory it has.' },
  nodejs_heap_used_bytes: { kind: 'gauge', labels: [], where: 'all', says: 'Memory that JavaScript objects use.' },
  nodejs_eventloop_delay_seconds: {
    kind: 'gauge',
    labels: ['quantile'],
    where: 'all',
    says: 'How late timers were since the last scrape: `0.5` and `0.99`.',
  },
  sallyport_build_info: {
    kind: 'gauge',
    labels: ['release', 'role'],
    where: 'all',
    says: 'Always 1; the release is in the label.',
  },
} as const satisfies Readonly<Record<string, MetricEntry>>;

export type MetricName = keyof typeof METRICS;
type OfKind<Kind> = { [Name in MetricName]: (typeof METRICS)[Name]['kind'] extends Kind ? Name : never }[MetricName];
export type CounterName = OfKind<'counter'>;
export type GaugeName = OfKind<'gauge'>;
export type HistogramName = OfKind<'histogram'>;
export type LabelsOf<Name extends MetricName> = Readonly<Record<(typeof METRICS)[Name]['labels'][number], string>>;
