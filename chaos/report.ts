import { firstGeneration, type Traces, type Violation } from './checks/check.ts';
import { VERDICT_TRUST_MS } from './checks/late-starts.ts';
import { STOP_AT_SEND, type FaultRecord } from './nemesis/fault.ts';
import type { SeedResult } from './run-seed.ts';

const MAX_TOLD = 5;
const AROUND_MS = 3000;

export function violatedCount({ checks }: Pick<SeedResult, 'checks'>): number {
  return checks.reduce((sum, { result }) => sum + result.violations.length, 0);
}

/** One line per invariant, and a summary of the run. */
export function formatResult(result: SeedResult): string {
  const { traces, checks } = result;
  const { history } = traces;
  const kinds = countBy([...history.records.values()].map(({ outcome, state }) => outcome?.kind ?? state));
  const again = new Set(history.answers.filter((answer) => answer.again).map(({ index }) => index)).size;
  const starts = history.effects.filter(({ mark }) => mark === 'S');
  const slowHooks = history.hooks.filter(({ fromMs, toMs }) => toMs - fromMs > VERDICT_TRUST_MS).length;
  const atSend = history.faults.filter((fault) => fault.kind === STOP_AT_SEND && wasWithdrawn(fault)).length;
  const lines = [
    `${result.store}, seed ${result.seed}: ${history.calls.length} calls submitted, ${history.records.size} accepted with nested ones, ${history.faults.length} faults, ${(result.tookMs / 1000).toFixed(0)} s`,
    `  outcomes: ${kinds}`,
    `  faults: ${countBy(history.faults.map(({ kind }) => kind))}`,
    `  ${starts.length} starts, ${starts.filter(({ fence }) => fence > 1).length} of them after a lease was lost or a call was parked; ${again} calls awaited again by a restarted caller`,
    `  ${slowHooks} calls held by a hook for more than ${VERDICT_TRUST_MS} ms; ${atSend} workers stopped at a send until a withdrawal was acknowledged`,
    '',
    ...checks.map(({ id, about, result: { tried, violations } }) => {
      const mark = violations.length === 0 ? ' ' : '!';
      return `${mark} ${id.padEnd(4)} tried ${String(tried).padStart(7)}  violated ${String(violations.length).padStart(4)}   ${about}`;
    }),
  ];
  return lines.join('\n');
}

/** A `stop-at-send` fault records in its detail which withdrawal was acknowledged; see stop-at-send.ts. */
function wasWithdrawn({ detail }: FaultRecord): boolean {
  return /, (cancelled|revoked|closed),/.test(detail);
}

function countBy(words: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .map(([word, count]) => `${word} ${count}`)
    .join(', ');
}

/** Everything that is known about the violations: the first calls in full, then the faults. */
export function formatViolations({ store, seed, checks, traces }: SeedResult): string {
  const told = checks.flatMap(({ id, result }) =>
    result.violations.slice(0, MAX_TOLD).map((violation) => tell(id, violation, traces)),
  );
  const again = `npm run chaos -- --store ${store} --seed ${seed} --calls ${traces.history.calls.length} --faults ${traces.history.faults.length} --layers none`;
  return [
    `VIOLATED on ${store}, seed ${seed}. Run it again: ${again}`,
    ...told,
    'All faults:',
    ...traces.history.faults.map((fault) => `  ${faultLine(fault, traces)}`),
    ...traces.history.troubles.slice(0, 20).map((what) => `  process: ${what}`),
  ].join('\n');
}

function tell(id: string, { callId, what }: Violation, traces: Traces): string {
  if (callId === undefined) return `\n${id}: ${what}`;
  const { history } = traces;
  const indexes = new Set(traces.planned(callId).map(({ index }) => index));
  const times = traces.effects(callId).map(({ atMs }) => atMs);
  const answered = history.answers.filter(
    (answer) => indexes.has(answer.index) || (answer.callId !== undefined && firstGeneration(answer.callId) === callId),
  );
  const all = [...times, ...answered.map(({ atMs }) => atMs)];
  const [from, to] = [Math.min(...all) - AROUND_MS, Math.max(...all) + AROUND_MS];
  const nearby = history.faults.filter(({ fromMs, toMs }) => fromMs <= to && toMs >= from);
  return [
    `\n${id}: ${what}`,
    `  call ${callId}`,
    ...traces
      .planned(callId)
      .map((call) => `  planned ${JSON.stringify({ ...call, args: { ...call.args, pad: undefined } })}`),
    ...traces
      .effects(callId)
      .map((line) => `  effect ${line.mark} fence ${line.fence} pid ${line.pid} ${since(line.atMs, traces)}`),
    ...answered
      .filter(({ kind }, at) => kind !== 'pending' || at >= answered.length - 2)
      .map(({ atMs, ...answer }) => `  answer ${since(atMs, traces)} ${JSON.stringify(answer)}`),
    ...history.cancels
      .filter((each) => each.callId === callId)
      .map((each) => `  cancel ${since(each.atMs, traces)} ${each.answer}`),
    ...history.decisions
      .filter((each) => each.callId === callId)
      .map((each) => `  decision ${since(each.atMs, traces)} ${each.decision}: ${each.answer}`),
    `  record ${JSON.stringify(history.records.get(callId))}`,
    ...history.audit.filter((each) => each.callId === callId).map((each) => `  audit ${JSON.stringify(each)}`),
    ...stallsNearby(traces, callId, from, to),
    ...nearby.map((fault) => `  fault nearby: ${faultLine(fault, traces)}`),
  ].join('\n');
}

function stallsNearby(traces: Traces, callId: string, fromMs: number, toMs: number): string[] {
  const pids = new Set(traces.effects(callId).map(({ pid }) => pid));
  return traces.history.stalls
    .filter((stall) => pids.has(stall.pid) && stall.fromMs <= toMs && stall.toMs >= fromMs)
    .map((stall) => `  stall of pid ${stall.pid} ${since(stall.fromMs, traces)} to ${since(stall.toMs, traces)}`);
}

function faultLine(fault: FaultRecord, traces: Traces): string {
  const { number, kind, target, pid, fromMs, toMs, detail } = fault;
  const lasted = Number.isFinite(toMs) ? ` to ${since(toMs, traces)}` : '';
  return `#${number} ${kind} ${target}${pid === undefined ? '' : ` pid ${pid}`} ${since(fromMs, traces)}${lasted} ${detail}`;
}

/** Time since the first recorded answer or effect of the run. */
function since(atMs: number, { history }: Traces): string {
  const begin = Math.min(history.answers[0]?.atMs ?? atMs, history.effects[0]?.atMs ?? atMs);
  return `+${((atMs - begin) / 1000).toFixed(3)} s`;
}

export function toJson(result: SeedResult): object {
  const { store, seed, tookMs, checks, traces } = result;
  return {
    store,
    seed,
    tookMs: Math.round(tookMs),
    calls: traces.history.calls.length,
    accepted: traces.history.records.size,
    faults: traces.history.faults.map(({ number, kind, target, detail }) => ({ number, kind, target, detail })),
    invariants: checks.map(({ id, about, result: { tried, violations } }) => ({
      id,
      about,
      tried,
      violated: violations.length,
    })),
    violations: checks.flatMap(({ id, result: { violations } }) => violations.map((each) => ({ id, ...each }))),
  };
}
