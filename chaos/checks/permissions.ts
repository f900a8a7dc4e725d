import { groupBy, wasStopped, type SeenCancel } from '../history/history.ts';
import type { EffectLine } from '../workload/effect-log.ts';
import { judge, SLACK_MS, together, type Check, type Traces } from './check.ts';
import { isLateStart } from './late-starts.ts';

/** A start that came too late after the withdrawal that was acknowledged at `atMs`. */
function startedAfter(traces: Traces, callId: string, atMs: number): EffectLine | undefined {
  return traces.starts(callId).find((start) => isLateStart(traces.history, start, atMs));
}

export const liveSession: Check = {
  id: 'I3',
  about: 'nothing starts for a session that was revoked',
  run(traces) {
    const revokedAt = new Map(traces.history.revocations.map(({ sessionId, atMs }) => [sessionId, atMs]));
    const calls = traces.history.calls.filter(({ sessionId }) => revokedAt.has(sessionId));
    return judge(
      calls,
      ({ callId }) => callId,
      ({ callId, sessionId }) => {
        const late = startedAfter(traces, callId, revokedAt.get(sessionId)!);
        return late === undefined
          ? undefined
          : `it started ${Math.round(late.atMs - revokedAt.get(sessionId)!)} ms after its session was revoked`;
      },
    );
  },
};

export const currentPolicy: Check = {
  id: 'I16',
  about: 'the policy of now decides, also about calls that were queued before',
  run(traces) {
    const { gates, calls } = traces.history;
    const gated = calls.filter(({ fate, callId }) => fate === 'gated' && traces.accepted.has(callId));
    return judge(
      gated,
      ({ callId }) => callId,
      ({ callId }) => {
        const late = traces
          .starts(callId)
          .find((start) =>
            gates.some(({ fromMs, toMs }) => start.atMs < toMs && isLateStart(traces.history, start, fromMs)),
          );
        return late === undefined ? undefined : 'it started while the policy had it closed';
      },
    );
  },
};

const ENDS_OF_APPROVALS = ['approval.decided', 'approval.expired', 'approval.cancelled'];

export const oneDecision: Check = {
  id: 'I9',
  about: 'an approval is decided once, by the first answer; without a yes nothing runs',
  run: (traces) => together(endedOnce(traces), wonOnce(traces), allowedOnly(traces)),
};

function endedOnce({ history }: Traces) {
  const asked = history.audit.filter(({ event }) => event === 'approval.requested');
  const ends = groupBy(
    history.audit.filter(({ event }) => ENDS_OF_APPROVALS.includes(event)),
    ({ approval }) => approval ?? '',
  );
  return judge(
    asked,
    ({ callId }) => callId,
    ({ approval }) => {
      const found = ends.get(approval ?? '') ?? [];
      return found.length === 1 ? undefined : `approval ${approval} ended ${found.length} times`;
    },
  );
}

function wonOnce({ history }: Traces) {
  const approvals = groupBy(history.decisions, ({ approval }) => approval);
  return judge(
    approvals.values(),
    ([first]) => first!.callId,
    (answers) => {
      // A decision that was sent again after its answer was lost gets the same answer again.
      const won = new Set(answers.filter(({ answer }) => answer === 'decided').map(({ decision }) => decision));
      return won.size > 1 ? `both ${[...won].join(' and ')} were told that they decided it` : undefined;
    },
  );
}

function allowedOnly(traces: Traces) {
  const { history } = traces;
  const allowed = new Set(
    history.audit
      .filter(({ event, decision }) => event === 'approval.decided' && decision?.startsWith('allow'))
      .map(({ callId }) => callId),
  );
  const asked = history.calls.filter(({ tool, callId }) => tool === 'asked' && traces.accepted.has(callId));
  return judge(
    asked,
    ({ callId }) => callId,
    ({ callId, args }) => {
      const [start] = traces.starts(callId);
      if (start === undefined) return undefined;
      if (!allowed.has(callId)) return `it started, and nobody allowed it (${args.fate})`;
      const yes = history.decisions.filter((each) => each.callId === callId && each.decision.startsWith('allow'));
      const early = yes.length > 0 && yes.every(({ askedAtMs }) => askedAtMs > start.atMs);
      return early ? 'it started before anybody was asked to allow it' : undefined;
    },
  );
}

/** The tool gets the abort within a second; the rest is for a busy machine. */
const ABORT_WITHIN_MS = 1000 + SLACK_MS;

export const cancelled: Check = {
  id: 'I14',
  about: 'after a cancel nothing new starts, and what runs is told to stop',
  run: (traces) =>
    judge(
      traces.history.cancels,
      ({ callId }) => callId,
      (cancel) => problemOfCancel(traces, cancel),
    ),
};

function problemOfCancel(traces: Traces, { callId, answer, atMs }: SeenCancel): string | undefined {
  const kind = traces.history.records.get(callId)?.outcome?.kind;
  if (answer === 'cancelled' && kind !== 'cancelled') return `the cancel was answered "cancelled", it ended ${kind}`;
  if (answer !== 'cancelled' && answer !== 'cancelling') return undefined;
  const late = startedAfter(traces, callId, atMs);
  if (late !== undefined) return `it started ${Math.round(late.atMs - atMs)} ms after it was cancelled`;
  const running = traces.starts(callId).find((start) => start.atMs <= atMs);
  const told = traces
    .effects(callId)
    .find(({ mark, fence, atMs: at }) => mark !== 'S' && fence === running?.fence && at > atMs);
  if (told === undefined || told.atMs <= atMs + ABORT_WITHIN_MS || disturbed(traces, told.pid, atMs, told.atMs))
    return undefined;
  return `it ran for ${Math.round(told.atMs - atMs)} ms after it was cancelled`;
}

/** Whether a fault kept the process from learning of the cancel: while the store is unavailable, a worker gets no answer from it. */
function disturbed({ history }: Traces, pid: number, fromMs: number, toMs: number): boolean {
  if (wasStopped(history, pid, fromMs, toMs)) return true;
  return history.faults.some((fault) => fault.fromMs <= toMs && fault.toMs >= fromMs - SLACK_MS);
}
