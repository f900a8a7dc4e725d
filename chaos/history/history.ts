import type { FaultRecord } from '../nemesis/fault.ts';
import type { SeenOutcome } from '../workload/answers.ts';
import type { HookEntry } from '../workload/hooks/slow-hook.ts';
import type { EffectLine } from '../workload/effect-log.ts';
import type { PlannedCall } from '../workload/plan.ts';
import type { Stall } from '../workload/watch-stalls.ts';

/** Everything a run left behind, as plain data: what the checks read, and all they read. Times are monotonic unless they say otherwise. */
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
  /** When no worker was up. */
  readonly away: readonly { readonly fromMs: number; readonly toMs: number }[];
  /** Of workers. */
  readonly stalls: readonly Stall[];
  /** Calls that a hook held, and when. */
  readonly hooks: readonly HookEntry[];
  /** Of calls that the store knows, by id. */
  readonly records: ReadonlyMap<string, SeenRecord>;
  readonly audit: readonly SeenAudit[];
  /** The chain over the same records, recomputed. */
  readonly chain: { readonly records: number; readonly problem?: string };
  /** What stood where after the drain that should be empty. Each looked-at place counts. */
  readonly leftovers: { readonly places: number; readonly found: readonly string[] };
  /** Lives of processes that began and ended. */
  readonly troubles: readonly string[];
  /** Calls that were not settled when the time was up. */
  readonly unfinished: readonly string[];
  /** Added to store time by clock jumps of the embedded owner, at most. */
  readonly jumpedMs: number;
}

export interface SubmittedCall extends PlannedCall {
  /** Of its first generation; see `callIdFor`. */
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
  /** Its caller had been killed since it was submitted. */
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

/** In between the tool was closed for sure. */
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

/** Times are the store's. */
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

/** What writes the end of a call. */
export const TERMINAL_EVENTS: readonly string[] = ['call.settled', 'call.cancelled', 'call.expired'];

/** Whether this process did not get to run in that stretch of time: somebody stopped it, or the machine was busy. */
export function wasStopped(
  { faults, stalls }: Pick<History, 'faults' | 'stalls'>,
  pid: number,
  fromMs: number,
  toMs: number,
): boolean {
  return stopsOf({ faults, stalls }, pid, fromMs, toMs).length > 0;
}

/** The times in which this process did not get to run, as far as they touch that stretch of time. */
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
