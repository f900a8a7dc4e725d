import type { SeenAnswer } from '../history/history.ts';
import type { CallFate } from '../workload/plan.ts';
import { firstGeneration, judge, together, type Check, type Traces } from './check.ts';

const itself = (callId: string): string => callId;

export const oneEnding: Check = {
  id: 'I1',
  about: 'one terminal per accepted call, the same for every reader',
  run: (traces) => judge(traces.accepted, itself, (callId) => problemOfEnding(traces, callId)),
};

function problemOfEnding(traces: Traces, callId: string): string | undefined {
  const record = traces.history.records.get(callId);
  if (record?.state !== 'settled' || record.outcome === undefined) return undefined;
  const endings = traces.endings(callId);
  if (endings.length !== 1) return `the audit has ${endings.length} endings of it`;
  const settled = traces.answers(callId).filter(({ kind }) => kind === 'settled');
  const other = settled.find(({ outcome }) => outcome?.digest !== record.outcome?.digest);
  if (other === undefined) return undefined;
  return `a caller was told ${other.outcome?.kind} (${other.outcome?.digest}), the record says ${record.outcome.kind} (${record.outcome.digest})`;
}

export const nothingLost: Check = {
  id: 'I5',
  about: 'no accepted call is lost by a kill of anything',
  run: (traces) =>
    together(
      judge(traces.accepted, itself, (callId) => {
        const record = traces.history.records.get(callId);
        if (record === undefined) return 'it was accepted, and the store does not know it';
        return record.state === 'settled' ? undefined : `it is still ${record.state}`;
      }),
      judge(
        traces.history.answers.filter(({ kind }) => kind === 'unknown'),
        ({ callId }) => callId,
        ({ index }) => `call ${index} had an id, and was unknown when it was asked for`,
      ),
      judge(
        traces.history.calls,
        ({ callId }) => callId,
        ({ index }) => {
          const answer = traces.lastAnswer(index);
          return answer === undefined || answer.kind === 'pending' ? `call ${index} never had an answer` : undefined;
        },
      ),
    ),
};

export const oneStep: Check = {
  id: 'I6',
  about: 'outcome, audit and end of the lease are one step',
  run: (traces) => {
    const { records, audit } = traces.history;
    const settled = [...records.values()].filter(({ state }) => state === 'settled');
    return together(
      judge(
        settled,
        ({ callId }) => callId,
        ({ callId, outcome }) => {
          const [ending] = traces.endings(callId);
          if (ending === undefined) return 'it is settled, and the audit has no ending of it';
          const isOther = ending.outcome !== undefined && ending.outcome !== outcome?.kind;
          return isOther ? `the record says ${outcome?.kind}, the audit ${ending.outcome}` : undefined;
        },
      ),
      judge(
        audit.filter(({ callId }) => traces.endings(callId).length > 0),
        ({ callId }) => callId,
        ({ callId }) =>
          records.get(callId)?.state === 'settled' ? undefined : 'the audit has its ending, the record has none',
      ),
    );
  },
};

export const ownReplies: Check = {
  id: 'I15',
  about: 'an answer reaches only whoever it belongs to',
  run: (traces) => {
    const planned = new Map(traces.history.calls.map((call) => [call.index, call]));
    const echoing = traces.history.answers.filter(({ outcome }) => outcome?.echo !== undefined);
    return judge(
      echoing,
      ({ callId }) => callId,
      ({ index, callId, outcome }) => {
        const call = planned.get(index)!;
        const { key, subject, callId: ran } = outcome!.echo!;
        const isOwn = key === call.key && subject === call.subject && ran === callId;
        return isOwn ? undefined : `the caller of ${call.key} (${call.subject}) got the answer of ${key} (${subject})`;
      },
    );
  },
};

export const outlivesReaders: Check = {
  id: 'I20',
  about: 'who was killed, or asks by id, gets the same outcome later',
  run: (traces) => {
    const late = (answer: SeenAnswer): boolean => (answer.again || answer.by === 'id') && answer.kind !== 'refused';
    return judge(
      traces.history.answers.filter(late),
      ({ callId }) => callId,
      ({ kind, callId, outcome }) => {
        if (kind === 'unknown') return 'it was gone when it was asked for again';
        if (kind !== 'settled') return undefined;
        const kept = traces.history.records.get(callId!)?.outcome;
        return kept?.digest === outcome?.digest
          ? undefined
          : `the late reader got ${outcome?.kind}, the store has ${kept?.kind}`;
      },
    );
  },
};

const NOT_TAKEN = ['overloaded', 'stale', 'unauthenticated'];

export const oneKeyOneCall: Check = {
  id: 'I8',
  about: 'the same key and body are one call, another body is a conflict',
  run: (traces) => {
    const twice = [...new Map(traces.history.calls.map((call) => [call.callId, call])).keys()].filter(
      (callId) => traces.planned(callId).length > 1,
    );
    return judge(twice, itself, (callId) => problemOfKey(traces, callId));
  },
};

function problemOfKey(traces: Traces, callId: string): string | undefined {
  const both = traces.planned(callId);
  const answers = both.map(({ index }) => traces.lastAnswer(index));
  if (answers.some((answer) => answer === undefined || NOT_TAKEN.includes(answer.outcome?.kind ?? '')))
    return undefined;
  const conflicts = answers.filter((answer) => answer?.outcome?.kind === 'conflict').length;
  const bodies = new Set(both.map(({ argsDigest }) => argsDigest)).size;
  const generations = new Set(answers.flatMap((answer) => (answer?.callId === undefined ? [] : [answer.callId])));
  if (conflicts !== bodies - 1) return `${bodies} bodies under one key, ${conflicts} of ${both.length} got a conflict`;
  if (generations.size > 1) return `one key became ${[...generations].join(' and ')}`;
  const ran = new Set(traces.starts(callId).map(({ argsDigest }) => argsDigest));
  if (ran.size > 1) return 'two bodies ran under one key';
  const [only] = generations;
  return only === undefined || firstGeneration(only) === callId ? undefined : `the key of ${callId} became ${only}`;
}

/**
 * Further outcomes that a call of this fate may have. Any call may end `ok`, or in one of the ways in `ANY_FATE`, which the store or the
 * machine can cause.
 */
const FITTING: Readonly<Record<CallFate, readonly string[]>> = {
  plain: [],
  approved: [],
  'refused-by-people': ['denied'],
  'raced-by-people': ['denied'],
  'left-to-expire': ['denied'],
  cancelled: ['cancelled', 'denied'],
  revoked: ['denied', 'unauthenticated', 'cancelled'],
  duplicate: [],
  'other-body': ['conflict'],
  gated: ['denied'],
  // The store was unavailable when the tool made its nested call.
  nested: ['exception'],
  poison: ['crashed'],
};
const ANY_FATE = ['ok', 'indeterminate', 'overloaded', 'expired', 'timed-out', 'stale'];
const MIN_OK = 0.3;
const LOST_STARTS = 2;

/** Not an invariant. It is checked because a run in which nothing works would violate no invariant. */
export const worthwhile: Check = {
  id: 'run',
  about: 'calls end as their kind can, and enough of them well',
  run: (traces) => {
    const { calls, records } = traces.history;
    const fine = [...records.values()].filter(({ outcome }) => outcome?.kind === 'ok').length;
    const share = fine / Math.max(1, calls.length);
    return together(
      judge(
        [share],
        () => undefined,
        () => (share >= MIN_OK ? undefined : `only ${fine} of ${calls.length} calls ended ok: the run proves nothing`),
      ),
      judge(
        calls,
        ({ callId }) => callId,
        ({ index, fate, callId }) => {
          const kind = traces.lastAnswer(index)?.outcome?.kind;
          if (kind === undefined || ANY_FATE.includes(kind) || FITTING[fate].includes(kind)) return undefined;
          // Storage errors deny a call: a question that could not be written was never asked.
          if (kind === 'denied' && traces.lastAnswer(index)?.outcome?.code === 'APPROVAL_STORE_FAILED')
            return undefined;
          // The chaos run killed the call's workers twice. To the store, that looks like a call that kills its workers.
          if (kind === 'crashed' && traces.starts(callId).length >= LOST_STARTS) return undefined;
          return `a call that was to be ${fate} ended ${kind} (${traces.lastAnswer(index)?.outcome?.code}), ${callId}`;
        },
      ),
    );
  },
};
