interface Quantiles {
  /** Absent where nothing ran. */
  readonly p50?: number;
  readonly p90?: number;
  readonly p99?: number;
}

/** Of one tool or one agent. */
export interface Share extends Quantiles {
  readonly name: string;
  readonly calls: number;
  readonly notOk: number;
}

/** As `GET /v1/statistics` answers. Times and lengths in milliseconds. */
export interface Statistics {
  readonly from: number;
  readonly to: number;
  readonly bucketMs: number;
  readonly buckets: readonly (Quantiles & {
    readonly at: number;
    readonly calls: number;
    readonly byOutcome: Readonly<Record<string, number>>;
  })[];
  readonly totals: Quantiles & {
    readonly calls: number;
    readonly byOutcome: Readonly<Record<string, number>>;
    readonly byTool: readonly Share[];
    readonly byAgent: readonly Share[];
  };
  readonly loops: { readonly warned: number; readonly blocked: number };
  /** Nothing before it was counted. */
  readonly countedFrom: number;
}

/** As `GET /v1/queues` answers, per lane and pool. */
export interface Queue {
  readonly lane: number;
  readonly pool: string;
  /** Not with a worker yet. */
  readonly queued: number;
  readonly leased: number;
}

/** What is switched off, as the policy has it. */
export interface Paused {
  readonly all?: boolean;
  readonly agents?: readonly string[];
  readonly tools?: readonly string[];
}

/** As `GET /v1/workers` answers. */
export interface Worker {
  readonly workerId: string;
  readonly pool: string;
  readonly host: string;
  readonly pid: number;
  readonly release: string;
  readonly startedAt: number;
  readonly state: 'starting' | 'serving' | 'draining';
  readonly concurrency: number;
  readonly running: number;
  readonly crashes: number;
  readonly hooks?: readonly HookHealth[];
  readonly services?: readonly { readonly service: string; readonly state: string; readonly detail?: string }[];
  readonly modules: readonly { readonly id: string; readonly digest: string }[];
  readonly broken: readonly { readonly id: string; readonly file: string; readonly reason: string }[];
}

export interface HookHealth {
  readonly hook: string;
  readonly on: string;
  readonly calls: number;
  readonly blocked: number;
  readonly asked: number;
  readonly failed: number;
  readonly timedOut: number;
  readonly dropped: number;
  readonly p95Ms?: number;
}

export interface LoopEnding {
  readonly at: number;
  readonly callId: string;
  readonly agent: string;
  readonly tool: string;
  readonly run: string;
  readonly detector: string;
  readonly kind: 'warned' | 'blocked';
}
