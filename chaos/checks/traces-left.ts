import { groupBy, type History, type SeenRecord } from '../history/history.ts';
import { judge, together, type Check, type Traces } from './check.ts';

export const gaplessAudit: Check = {
  id: 'I10',
  about: 'the audit is gapless and chained, and never behind a reply',
  run: (traces) => together(gapless(traces.history), chained(traces.history), ahead(traces)),
};

function gapless({ audit }: History) {
  const last = new Map<number, number>();
  return judge(
    audit,
    ({ callId }) => callId,
    ({ lane, sequence }) => {
      const expected = (last.get(lane) ?? 0) + 1;
      last.set(lane, sequence);
      return sequence === expected ? undefined : `record ${sequence} of lane ${lane} stands where ${expected} should`;
    },
  );
}

function chained({ chain, audit }: History) {
  const problem =
    chain.problem ??
    (chain.records === audit.length ? undefined : `${audit.length} records, ${chain.records} in the chain`);
  return judge(
    [chain],
    () => undefined,
    () => problem,
  );
}

function ahead(traces: Traces) {
  const looked = traces.history.answers.filter(({ auditSequence }) => auditSequence !== undefined);
  return judge(
    looked,
    ({ callId }) => callId,
    ({ callId, auditSequence }) => {
      const [ending] = traces.endings(callId!);
      if (ending === undefined || ending.sequence <= auditSequence!) return undefined;
      return `its reply was there when the audit had ${auditSequence} records, and its ending is record ${ending.sequence}`;
    },
  );
}

export const refusedBefore: Check = {
  id: 'I12',
  about: 'what is refused as too much leaves no trace',
  run: (traces) => {
    const refused = traces.history.answers.filter(
      ({ kind, outcome }) => kind === 'refused' && outcome?.kind === 'overloaded',
    );
    const planned = new Map(traces.history.calls.map((call) => [call.index, call]));
    const alone = refused.filter(({ index }) => traces.planned(planned.get(index)!.callId).length === 1);
    return judge(
      alone,
      ({ index }) => planned.get(index)!.callId,
      ({ index }) => {
        const { callId } = planned.get(index)!;
        // An earlier submission may have been accepted and its answer lost. Then only the repeated submission was refused.
        const wasKnown = traces.history.answers.some((answer) => answer.index === index && answer.callId !== undefined);
        return !wasKnown && traces.starts(callId).length > 0 ? 'it was refused, and it ran' : undefined;
      },
    );
  },
};

/** Faults during which the store itself was unavailable, or every process that could have settled the call. */
const OUTAGES = [
  'redis-kill',
  'client-pause',
  'slow-server',
  'stop-owner',
  'kill-owner',
  'drain-owner',
  'kill-in-commit',
];
/** Time to restart an owner: until it has ended and its successor is ready. */
const RESTART_MS = 4000;

export const inTime: Check = {
  id: 'I13',
  about:
    'every accepted call is terminal within its deadline, 2 leases and 5 s, not counting the time its store was away',
  run: (traces) =>
    together(
      judge(
        [...traces.history.records.values()].filter(({ settledAt }) => settledAt !== undefined),
        ({ callId }) => callId,
        (record) => problemOfTime(traces, record),
      ),
      judge(
        traces.history.unfinished,
        (callId) => callId,
        () => 'it was not settled when the time was up',
      ),
      judge(
        traces.history.troubles.filter((what) => what.includes('ended with 70')),
        () => undefined,
        (what) => what,
      ),
    ),
};

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

function problemOfTime(traces: Traces, record: SeenRecord): string | undefined {
  const { history } = traces;
  const lateMs = record.settledAt! - record.deadline - 2 * history.leaseMs - 5000 - history.jumpedMs;
  if (lateMs <= 0) return undefined;
  // The time at which a nested call was made is not recorded, so the whole run counts.
  const begin = traces.planned(record.callId)[0]?.submittedAtMs ?? -Infinity;
  const end = Number.isFinite(begin) ? begin + (record.settledAt! - record.acceptedAt) : Infinity;
  const within = (each: { fromMs: number; toMs: number }): number =>
    Math.max(0, Math.min(each.toMs, end) - Math.max(each.fromMs, begin));
  const outages = history.faults.filter(
    (fault) => OUTAGES.includes(fault.kind) && fault.toMs >= begin && fault.fromMs <= end,
  );
  const stalls = groupBy(history.stalls, ({ pid }) => String(pid));
  const awayMs =
    sum(history.away.map(within)) +
    sum(outages.map((fault) => within(fault) + RESTART_MS)) +
    Math.max(0, ...[...stalls.values()].map((each) => sum(each.map(within))));
  return lateMs <= awayMs ? undefined : `it was settled ${lateMs} ms too late`;
}

export const nothingLeft: Check = {
  id: 'I19',
  about: 'after a drain nothing is left: no entries, leases, consumers, windows, backlogs',
  run: ({ history: { leftovers } }) => ({
    tried: leftovers.places,
    violations: leftovers.found.map((what) => ({ what })),
  }),
};

/** Faults that can make a worker lose its lease while it drains. */
const HARMFUL = ['redis-kill', 'client-pause', 'slow-server', 'client-kill', 'function-flush'];

export const drained: Check = {
  id: 'I22',
  about: 'an orderly stop ends with 0 and makes nothing indeterminate',
  run: (traces) => {
    const drains = traces.history.faults
      .filter(({ kind, detail }) => kind.startsWith('drain-') && detail !== 'exit SIGKILL' && detail.startsWith('exit'))
      .map((drain) => ({ ...drain, lost: lostByDrain(traces.history, drain) }));
    return judge(
      drains,
      ({ lost }) => lost,
      ({ detail, target, lost }) => {
        if (detail !== 'exit 0') return `${target} was asked to drain and ended with ${detail}`;
        return lost === undefined ? undefined : `${target} drained, and its call is indeterminate`;
      },
    );
  },
};

function lostByDrain(history: History, { pid, fromMs, toMs }: History['faults'][number]): string | undefined {
  return history.effects.find(
    (line) =>
      line.mark === 'S' &&
      line.pid === pid &&
      line.atMs <= toMs &&
      history.records.get(line.callId)?.outcome?.kind === 'indeterminate' &&
      !isHarmed(history, pid, Math.min(line.atMs, fromMs), toMs),
  )?.callId;
}

/** Whether a fault could have harmed this process. On the embedded store all processes depend on the owner. */
function isHarmed({ faults }: History, pid: number | undefined, fromMs: number, toMs: number): boolean {
  return faults.some(
    (fault) =>
      (HARMFUL.includes(fault.kind) || fault.target === 'owner' || fault.pid === pid) &&
      !fault.kind.startsWith('drain-worker') &&
      !(fault.kind === 'drain-owner' && fault.pid === pid) &&
      fault.fromMs <= toMs &&
      fault.toMs >= fromMs,
  );
}
