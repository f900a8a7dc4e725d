import type { FaultRecord } from '../nemesis/fault.ts';
import type { SeenOutcome } from '../workload/answers.ts';
import type { HookEntry } from '../workload/hooks/slow-hook.ts';
import type { EffectLine } from '../workload/effect-log.ts';
import type { PlannedCall } from '../workload/plan.ts';
import type { Stall } from '../workload/watch-stalls.ts';

/** Everything that a run left behind, as plain data. The checks read this and nothing else. Times are monotonic unless noted otherwise. */
export interface History {
  readonly store: 'redis' | 'embedded';
  readonly leaseMs: number;
  readonly calls: readonly SubmittedCall[];
  readonly effects: readonly EffectLine[];
  readonly answers: readonly SeenAnswer[];
  readonly cancels: readonly SeenCancel[];
  readonly revocations: readonly Revocation[];
  readonly gates: readonly GateWindow[];
  readonly decisions: readonly SeenDecision[];
  readonly faults: readonly FaultRecord[];
  /** Periods in which no worker was up. */
  readonly away: readonly { readonly fromMs: number; readonly toMs: number }[];
  /** Stalls of workers. */
  readonly stalls: readonly Stall[];
  /** Calls that a hook held, and when. */
  readonly hooks: readonly HookEntry[];
  /** The store's records of calls, by call id. */
  readonly records: ReadonlyMap<string, SeenRecord>;
  readonly audit: readonly SeenAudit[];
  /** The result of recomputing the hash chain over the records in `audit`. */
  readonly chain: { readonly records: number; readonly problem?: string };
  /** What was found after the drain in places that should be empty. `places` counts the places that were checked. */
  readonly leftovers: { readonly places: number; readonly found: readonly string[] };
  /** Unexpected ends of processes, and processes that did not become ready. */
  readonly troubles: readonly string[];
  /** Calls that were not settled when the time was up. */
  readonly unfinished: readonly string[];
  /** Max time that clock jumps of the embedded owner can have added to store time. */
  readonly jumpedMs: number;
}

export interface SubmittedCall extends PlannedCall {
  /** The id of the call's first generation; see `callIdFor`. */
  readonly callId: string;
  readonly sessionId: string;
  readonly subject: string;
  readonly argsDigest: string;
  readonly submittedAtMs?: number;
}

export interface SeenAnswer {
  readonly index: number;
  readonly atMs: number;
  readonly kind: 'settled' | 'refused' | 'pending' | 'unknown' | 'session-ended';
  readonly by: 'key' | 'id';
  readonly callId?: string;
  readonly outcome?: SeenOutcome;
  readonly auditSequence?: number;
  /** True if the caller was killed after it had submitted the call, so that its successor submitted it again. */
  readonly again: boolean;
}

export interface SeenCancel {
  readonly index: number;
  readonly callId: string;
  readonly atMs: number;
  readonly answer: string;
}

export interface Revocation {
  readonly sessionId: string;
  readonly askedAtMs: number;
  readonly atMs: number;
}

/** A period in which the tool was certainly closed. */
export interface GateWindow {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface SeenDecision {
  readonly approval: string;
  readonly callId: string;
  readonly decision: string;
  readonly answer: string;
  readonly askedAtMs: number;
  readonly atMs: number;
}

/** A call's record in the store. Times are store time. */
export interface SeenRecord {
  readonly callId: string;
  readonly state: string;
  readonly tool: string;
  readonly session: string;
  readonly acceptedAt: number;
  readonly deadline: number;
  readonly settledAt?: number;
  readonly starts: number;
  readonly outcome?: SeenOutcome;
}

export interface SeenAudit {
  readonly lane: number;
  readonly sequence: number;
  /** Store time. */
  readonly at: number;
  readonly event: string;
  readonly callId: string;
  readonly approval?: string;
  readonly outcome?: string;
  readonly decision?: string;
}

/** Audit events that record the end of a call. */
export const TERMINAL_EVENTS: readonly string[] = ['call.settled', 'call.cancelled', 'call.expired'];

/** Whether this process could not run at some time in the period: it was stopped, or the machine was busy. */
export function wasStopped(
  { faults, stalls }: Pick<History, 'faults' | 'stalls'>,
  pid: number,
  fromMs: number,
  toMs: number,
): boolean {
  return stopsOf({ faults, stalls }, pid, fromMs, toMs).length > 0;
}

/** The times in which this process could not run, as far as they overlap the period. */
export function stopsOf(
  { faults, stalls }: Pick<History, 'faults' | 'stalls'>,
  pid: number,
  fromMs: number,
  toMs: number,
): readonly { readonly fromMs: number; readonly toMs: number }[] {
  const stops = faults.filter(({ kind }) => kind.startsWith('stop-'));
  return [...stalls, ...stops].filter((each) => each.pid === pid && each.fromMs <= toMs && each.toMs >= fromMs);
}

export function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
