/** The times of one call, as the store and its audit record keep them. */
export interface MeasuredCall {
  readonly acceptedAt?: number | undefined;
  readonly settledAt?: number | undefined;
  readonly executed?: string | undefined;
  /** From the delivery to the last worker until the outcome: the checks and the run. */
  readonly durationMs?: number | undefined;
  /** The part of `durationMs` up to the decision of the gate. Absent: less than ten milliseconds, or the call did not reach the gate. */
  readonly gateMs?: number | undefined;
}

export interface CallDurations {
  /**
   * From acceptance to settlement by the store's clock, including all waiting for a worker and for people. That clock counts whole
   * milliseconds and can be adjusted, so the difference can be shorter than the `durationMs` that the worker measured. Then `totalMs` is
   * `durationMs`, so that no part is shown as longer than the whole.
   */
  readonly totalMs?: number;
  /** The run of the tool alone; absent if the tool did not run. Includes the time before the run where `gateMs` is absent. */
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
