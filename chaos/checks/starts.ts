import { wasStopped } from '../history/history.ts';
import type { EffectLine } from '../workload/effect-log.ts';
import { toolOf } from '../workload/tools.ts';
import { groupBy } from '../history/history.ts';
import { judge, together, type Check, type Traces } from './check.ts';

const itself = (callId: string): string => callId;

function started(traces: Traces): string[] {
  return [...new Set(traces.history.effects.map(({ callId }) => callId))];
}

export const noSecondStart: Check = {
  id: 'I2',
  about: 'an unsafe tool never starts twice; what says it did not run did not; what says it ran is through',
  run: (traces) =>
    together(
      judge(
        started(traces).filter((callId) => toolOf(traces.effects(callId)[0]!.tool)?.effect === 'unsafe'),
        itself,
        (callId) => {
          const count = traces.starts(callId).length;
          return count > 1 ? `an unsafe tool started ${count} times` : undefined;
        },
      ),
      judge(
        traces.history.records.values(),
        ({ callId }) => callId,
        (record) => {
          const starts = traces.starts(record.callId);
          const { outcome } = record;
          if (outcome?.executed === 'no' && starts.length > 0)
            return `it ended ${outcome.kind}, executed no, and it had started`;
          if (outcome?.kind !== 'ok') return undefined;
          const fence = outcome.echo?.fence;
          const isThrough = traces.effects(record.callId).some((line) => line.mark === 'E' && line.fence === fence);
          return isThrough ? undefined : 'it ended ok, and no run of it came to its end';
        },
      ),
    ),
};

export const sameBytes: Check = {
  id: 'I4',
  about: 'what runs is what was sent, and so what was approved',
  run: (traces) => {
    const known = traces.history.effects.filter(
      ({ mark, callId }) => mark === 'S' && traces.planned(callId).length > 0,
    );
    return judge(
      known,
      ({ callId }) => callId,
      ({ callId, argsDigest }) =>
        traces.planned(callId).some((call) => call.argsDigest === argsDigest)
          ? undefined
          : `it ran with other arguments (${argsDigest}) than were sent`,
    );
  },
};

export const fenced: Check = {
  id: 'I7',
  about: 'who lost the lease cannot settle; no two owners share a fence',
  run: (traces) =>
    judge(started(traces), itself, (callId) => {
      const starts = traces.starts(callId);
      for (const [fence, lines] of groupBy(starts, (line) => String(line.fence))) {
        const pids = new Set(lines.map(({ pid }) => pid));
        if (pids.size > 1) return `processes ${[...pids].join(' and ')} both ran it under fence ${fence}`;
      }
      const settledBy = traces.history.records.get(callId)?.outcome?.echo?.fence;
      const highest = Math.max(...starts.map(({ fence }) => fence));
      if (settledBy === undefined || starts.length === 0 || settledBy >= highest) return undefined;
      return `fence ${settledBy} settled it although fence ${highest} had it`;
    }),
};

/** Max starts of a call that kills its workers: one without a start mark (first delivery of a `read` tool), and two with a mark. */
const MAX_POISONED = 3;

export const poisonEnds: Check = {
  id: 'I21',
  about: 'a call that kills its workers ends crashed',
  run: (traces) => {
    const poison = traces.history.calls.filter(({ fate, callId }) => fate === 'poison' && traces.accepted.has(callId));
    return judge(
      poison,
      ({ callId }) => callId,
      ({ callId }) => {
        const starts = traces.starts(callId).length;
        const record = traces.history.records.get(callId);
        const kind = record?.outcome?.kind;
        if (starts > MAX_POISONED) return `it killed ${starts} workers`;
        // If workers are slow to restart, the call may reach its deadline first.
        const isLate = record?.settledAt !== undefined && record.settledAt >= record.deadline;
        return starts === 0 || kind === 'crashed' || isLate
          ? undefined
          : `it killed ${starts} workers and ended ${kind}`;
      },
    );
  },
};

export const inOrder: Check = {
  id: 'I11',
  about: 'serial tools start in accept order, one at a time per subject',
  run(traces) {
    const serial = traces.history.effects.filter(({ tool }) => toolOf(tool)?.serial === true);
    const groups = groupBy(serial, ({ subject, tool }) => `${subject} ${tool}`);
    return together(...[...groups.values()].flatMap((lines) => [order(traces, lines), oneAtATime(traces, lines)]));
  },
};

function order(traces: Traces, lines: readonly EffectLine[]) {
  const first = new Map<string, EffectLine>();
  for (const line of lines) if (line.mark === 'S' && !first.has(line.callId)) first.set(line.callId, line);
  const inStartOrder = [...first.values()].sort((a, b) => a.atMs - b.atMs);
  let latest = -Infinity;
  return judge(
    inStartOrder,
    ({ callId }) => callId,
    ({ callId, pid, atMs }) => {
      const acceptedAt = traces.history.records.get(callId)?.acceptedAt ?? latest;
      const before = latest;
      latest = Math.max(latest, acceptedAt);
      if (acceptedAt >= before || wasStopped(traces.history, pid, 0, atMs)) return undefined;
      return `accepted at ${acceptedAt}, it started after one accepted at ${before}`;
    },
  );
}

/** A run that ended `ok` held its lease all the time. No other call of its subject and tool may start between its start and its end. */
function oneAtATime(traces: Traces, lines: readonly EffectLine[]) {
  const starts = lines.filter(({ mark }) => mark === 'S').sort((a, b) => a.atMs - b.atMs);
  return judge(
    starts,
    ({ callId }) => callId,
    (start) => {
      if (traces.history.records.get(start.callId)?.outcome?.echo?.fence !== start.fence) return undefined;
      const end = lines.find(
        ({ mark, callId, fence }) => mark === 'E' && callId === start.callId && fence === start.fence,
      );
      const other = starts.find(
        ({ callId, pid, atMs }) =>
          callId !== start.callId && atMs > start.atMs && atMs < end!.atMs && !wasStopped(traces.history, pid, 0, atMs),
      );
      return other === undefined ? undefined : `${other.callId} started while it ran`;
    },
  );
}
