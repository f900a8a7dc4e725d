import { planeError } from '../../domain/errors.ts';
import type { AuditEvent } from '../../domain/audit-record.ts';
import type { CallId } from '../../domain/ids.ts';
import type {
  AuditBounds,
  AuditEntry,
  AuditSource,
  AuditState,
  AuditTrail,
  ReadAuditRequest,
} from '../../ports/audit-store.ts';
import { asBytes, asList, asNumber, asText, wordOf } from './answers.ts';
import { readAudited } from './call-codec.ts';
import type { RedisContext } from './redis-context.ts';

export function createAuditSource(context: RedisContext): AuditSource {
  const { incarnation } = context;
  return {
    readAudit: (request) => readAudit(context, request),
    auditState: ({ lane }) => auditState(context, lane),
    async claimAudit({ lane, drainer, leaseMs }) {
      const keys = { meta: context.lane(lane).meta };
      const answer = await context.fcall('claim_audit', { keys, args: { incarnation, drainer, leaseMs } });
      const [word, fact] = asList(answer);
      return wordOf(word) === 'CLAIMED'
        ? { kind: 'claimed', fence: asNumber(fact) }
        : { kind: 'held', by: asText(fact) };
    },
    async drainAudit({ lane, drainer, fence, through, leaseMs, bounds }) {
      const { meta, audit } = context.lane(lane);
      const args = { incarnation, drainer, fence, through, leaseMs, ...boundArguments(bounds) };
      const answer = await context.fcall('drain_audit', { keys: { meta, audit }, args });
      return wordOf(answer) === 'DRAINED' ? 'drained' : 'fenced';
    },
    async alarmAudit({ lane, drainer, fence, problem }) {
      const keys = { meta: context.lane(lane).meta };
      const answer = await context.fcall('alarm_audit', { keys, args: { incarnation, drainer, fence, problem } });
      return wordOf(answer) === 'ALARMED' ? 'alarmed' : 'fenced';
    },
    async boundAudit({ lane, bounds }) {
      const keys = { meta: context.lane(lane).meta };
      await context.fcall('bound_audit', { keys, args: { incarnation, ...boundArguments(bounds) } });
    },
    async noteStatement({ number, hash }) {
      const { incarnation: record, statements } = context.deployment;
      await context.fcall('note_statement', { keys: { record, statements }, args: { incarnation, number, hash } });
    },
    async statementMark() {
      const [number, hash] = asList(await context.command('HMGET', context.deployment.statements, 'number', 'hash'));
      if (number === null || hash === null) return undefined;
      return { number: asNumber(number), hash: asText(hash) };
    },
  };
}

/** Added to a time and a sequence it is still a whole number. */
const NEVER = 2 ** 51;

function boundArguments({ privileged, everything }: AuditBounds) {
  return {
    privilegedRecords: Math.min(privileged.records, NEVER),
    privilegedLateMs: Math.min(privileged.lateMs, NEVER),
    records: Math.min(everything.records, NEVER),
    lateMs: Math.min(everything.lateMs, NEVER),
  };
}

async function auditState(context: RedisContext, lane: number): Promise<AuditState> {
  const { incarnation: store } = context;
  const answer = await context.fcall('audit_state', {
    keys: { meta: context.lane(lane).meta },
    args: { incarnation: store },
  });
  const [, sequence, drained, drainedAt, now, drainer, alarm, refuses] = asList(answer).map(asText);
  return {
    store,
    sequence: Number(sequence),
    kept: false,
    drained: Number(drained),
    drainedAt: Number(drainedAt),
    now: Number(now),
    ...(drainer === '' ? {} : { drainer: drainer! }),
    ...(alarm === '' ? {} : { alarm: alarm! }),
    refuses: refuses as AuditState['refuses'],
  };
}

/** The id of an entry is the sequence of its first record; it holds the records of one batch. */
async function readAudit(context: RedisContext, request: ReadAuditRequest): Promise<AuditEntry[]> {
  const { audit } = context.lane(request.lane);
  const before = asList(
    await context.commandForBytes('XREVRANGE', audit, String(request.fromSequence), '-', 'COUNT', '1'),
  );
  const start = before.length === 0 ? '-' : asText(asList(before[0])[0]);
  const read = asList(await context.commandForBytes('XRANGE', audit, start, '+', 'COUNT', String(request.limit)));
  const entries = read.flatMap((entry) => {
    const [id, fields] = asList(entry);
    return toEntries(request.lane, Number(asText(id).split('-')[0]), asList(fields));
  });
  return entries.filter(({ sequence }) => sequence >= request.fromSequence).slice(0, request.limit);
}

/** `t` and the time, then for each record: call id and the call's record, event and detail. */
function toEntries(lane: number, first: number, fields: unknown[]): AuditEntry[] {
  const at = asNumber(fields[1]);
  const entries: AuditEntry[] = [];
  for (let index = 2; index + 3 < fields.length; index += 4) {
    entries.push({
      lane,
      sequence: first + entries.length,
      at,
      event: asText(fields[index + 2]) as AuditEvent,
      callId: asText(fields[index]) as CallId,
      ...readAudited(asBytes(fields[index + 1])),
      detail: asBytes(fields[index + 3]),
    });
  }
  return entries;
}

/** What a lane has is on its way to a sink, and is not chained here. */
const notHere = (): Promise<never> => Promise.reject(planeError('AUDIT_SINK_MISSING', {}));

export const NO_TRAIL: AuditTrail = {
  auditHeads: notHere,
  readTrail: notHere,
  queryTrail: notHere,
  addStatement: notHere,
  listStatements: notHere,
  lastStatement: notHere,
  erasePayloads: notHere,
  cutTrail: notHere,
};
