import {
  groupBy,
  TERMINAL_EVENTS,
  type History,
  type SeenAnswer,
  type SeenAudit,
  type SubmittedCall,
} from '../history/history.ts';
import type { EffectLine } from '../workload/effect-log.ts';

/** One invariant of the design, and a function that finds violations of it in a run. */
export interface Check {
  readonly id: string;
  readonly about: string;
  run(traces: Traces): CheckResult;
}

export interface CheckResult {
  /** Number of cases in which the invariant could have been violated. */
  readonly tried: number;
  readonly violations: readonly Violation[];
}

export interface Violation {
  readonly what: string;
  readonly callId?: string;
}

/** A history, indexed by call. */
export interface Traces {
  readonly history: History;
  /** All calls that were ever accepted: the store, its audit, an answer or the effect log contains them. */
  readonly accepted: ReadonlySet<string>;
  starts(callId: string): readonly EffectLine[];
  effects(callId: string): readonly EffectLine[];
  answers(callId: string): readonly SeenAnswer[];
  endings(callId: string): readonly SeenAudit[];
  /** The planned calls with this key; several if there are duplicates. */
  planned(callId: string): readonly SubmittedCall[];
  lastAnswer(index: number): SeenAnswer | undefined;
}

/**
 * How long after an acknowledged cancel, revocation or closing a tool may still start. A worker does not ask the store between its last
 * check of a call and the first line of the tool, so a change in between cannot stop the tool; on a busy machine that takes long. See
 * late-starts.ts for workers that were stopped or delayed in between.
 */
export const SLACK_MS = 2000;

/** The id without its generation. A key that was released is used again as `<id>~2`. */
export function firstGeneration(callId: string): string {
  return callId.split('~')[0]!;
}

export function traceHistory(history: History): Traces {
  const effects = groupBy(history.effects, ({ callId }) => callId);
  const answers = groupBy(
    history.answers.filter(({ callId }) => callId !== undefined),
    ({ callId }) => callId!,
  );
  const endings = groupBy(
    history.audit.filter(({ event }) => TERMINAL_EVENTS.includes(event)),
    ({ callId }) => callId,
  );
  const planned = groupBy(history.calls, ({ callId }) => callId);
  const last = new Map(history.answers.map((answer) => [answer.index, answer]));
  const accepted = new Set([
    ...history.records.keys(),
    ...history.audit.flatMap(({ callId }) => (callId === '' ? [] : [callId])),
    ...answers.keys(),
    ...effects.keys(),
  ]);
  return {
    history,
    accepted,
    effects: (callId) => effects.get(callId) ?? [],
    starts: (callId) => (effects.get(callId) ?? []).filter(({ mark }) => mark === 'S'),
    answers: (callId) => answers.get(callId) ?? [],
    endings: (callId) => endings.get(callId) ?? [],
    planned: (callId) => planned.get(firstGeneration(callId)) ?? [],
    lastAnswer: (index) => last.get(index),
  };
}

/** Judges each item. A returned text is a violation; undefined is none. */
export function judge<Item>(
  items: Iterable<Item>,
  callIdOf: (item: Item) => string | undefined,
  problemOf: (item: Item) => string | undefined,
): CheckResult {
  const violations: Violation[] = [];
  let tried = 0;
  for (const item of items) {
    tried += 1;
    const what = problemOf(item);
    const callId = callIdOf(item);
    if (what !== undefined) violations.push({ what, ...(callId === undefined ? {} : { callId }) });
  }
  return { tried, violations };
}

export function together(...results: readonly CheckResult[]): CheckResult {
  return {
    tried: results.reduce((sum, { tried }) => sum + tried, 0),
    violations: results.flatMap(({ violations }) => violations),
  };
}
