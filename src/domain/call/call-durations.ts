/** The times of one call, as the store and its audit record keep them. */
export interface MeasuredCall {
  readonly acceptedAt?: number | undefined;
  readonly settledAt?: number | undefined;
  readonly executed?: string | undefined;
  /** From the delivery to the last worker until the outcome: the checks and the run. */
  readonly durationMs?: number | undefined;
  /** The part of `durationMs` before the gate let the call through. Absent: less than ten milliseconds. */
  readonly gateMs?: number | undefined;
}

export interface CallDurations {
  /**
   * From acceptance to settlement, including all waiting for a worker and for people. The store's clock counts whole milliseconds and can
   * be adjusted, so the difference of its times can be shorter than what the worker measured. Then this is what the worker measured: a part
   * is never longer than the whole.
   */
  readonly totalMs?: number;
  /** The run of the tool alone; absent when it did not run. A gate of less than ten milliseconds is part of it. */
  readonly ranMs?: number;
}

/** The two durations of a call that are shown to people. All interfaces use this function, so that they agree. */
export function callDurations({
  acceptedAt,
  settledAt,
  executed,
  durationMs,
  gateMs = 0,
}: MeasuredCall): CallDurations {
  const mayHaveRun = executed === 'yes' || executed === 'unknown';
  return {
    ...(acceptedAt === undefined || settledAt === undefined
      ? {}
      : { totalMs: Math.max(durationMs ?? 0, settledAt - acceptedAt) }),
    ...(durationMs === undefined || !mayHaveRun ? {} : { ranMs: Math.max(0, durationMs - gateMs) }),
  };
}
