import { DEPLOYMENT_LANE } from '../../domain/audit/audit-record.ts';
import type {
  AuditBounds,
  AuditEntry,
  AuditJournal,
  AuditSource,
  AuditState,
  JournalPage,
  ReadAuditRequest,
  ReadJournalRequest,
  SequenceRange,
} from '../../domain/ports/audit-store.ts';
import { asList, asNumber, asText, wordOf } from './answers.ts';
import { MAX_ELEMENT_BYTES, readElement } from './journal-codec.ts';
import type { RedisContext } from './redis-context.ts';

export function createAuditSource(context: RedisContext): AuditSource & AuditJournal {
  const { incarnation } = context;
  const keysOf = (lane: number) => {
    const { meta, drain, audit } = context.lane(lane);
    return { meta, drain, audit };
  };
  return {
    auditLanes: [...Array.from({ length: context.lanes }, (_, lane) => lane), DEPLOYMENT_LANE],
    readAudit: (request) => readAudit(context, request),
    readJournal: (request) => readJournal(context, request),
    auditState: ({ lane }) => auditState(context, lane),
    async moveAudit({ lane }) {
      const keys = { ...keysOf(lane), oldAudit: context.lane(lane).oldAudit };
      const answer = await context.fcall('move_audit', { keys, args: { incarnation, limit: MOVED_AT_ONCE } });
      return asNumber(asList(answer)[1]) === MOVED_AT_ONCE;
    },
    async claimAudit({ lane, drainer, leaseMs }) {
      const answer = await context.fcall('claim_audit', {
        keys: keysOf(lane),
        args: { incarnation, drainer, leaseMs },
      });
      const [word, fact] = asList(answer);
      return wordOf(word) === 'CLAIMED'
        ? { kind: 'claimed', fence: asNumber(fact) }
        : { kind: 'held', by: asText(fact) };
    },
    async drainAudit({ lane, bounds, drainer, fence, through, position, last, surplus, foreign, leaseMs }) {
      const drained = { incarnation, drainer, fence, through, position, last, surplus, foreign, leaseMs };
      const args = { ...drained, ...boundArguments(bounds) };
      const answer = wordOf(await context.fcall('drain_audit', { keys: keysOf(lane), args }));
      return answer === 'DRAINED' ? 'drained' : answer === 'CHANGED' ? 'changed' : 'fenced';
    },
    async alarmAudit({ lane, drainer, fence, problem, gap }) {
      const args = { incarnation, drainer, fence, problem, gap: gap === undefined ? '' : `${gap.from} ${gap.to}` };
      const answer = await context.fcall('alarm_audit', { keys: keysOf(lane), args });
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

/** Max entries of an earlier release's stream that are moved in one step; each holds the records of a batch. */
const MOVED_AT_ONCE = 50;

/**
 * Sent for a bound that has no limit, because infinity cannot be sent. The function adds it to a time or a sequence, and the sum is still
 * an exact integer.
 */
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
  const { meta, drain, audit } = context.lane(lane);
  const answer = await context.fcall('audit_state', { keys: { meta, drain, audit }, args: { incarnation: store } });
  const [, sequence, drained, drainedAt, now, drainer, alarm, refuses, waiting, surplus, foreign, foreignAt, gap] =
    asList(answer).map(asText);
  return {
    store,
    sequence: Number(sequence),
    kept: false,
    drained: Number(drained),
    drainedAt: timeOf(drainedAt!),
    now: Number(now),
    ...(drainer === '' ? {} : { drainer: drainer! }),
    ...(alarm === '' ? {} : { alarm: alarm! }),
    ...(gap === '' ? {} : { gap: readGap(gap!) }),
    waiting: Number(waiting),
    surplus: Number(surplus),
    foreign: Number(foreign),
    foreignAt: timeOf(foreignAt!),
    // The deployment's lane refuses nothing: pausing and revoking must work, however late its sink is.
    refuses: lane === DEPLOYMENT_LANE ? 'nothing' : (refuses as AuditState['refuses']),
  };
}

/** The drain keeps its times as text. A text that is no time, because it was overwritten, counts as 0. */
function timeOf(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : 0;
}

function readGap(text: string): SequenceRange {
  const [from, to] = text.split(' ');
  return { from: Number(from), to: Number(to) };
}

/**
 * Max bytes of a page. The first element is returned even if it is larger. An element that is larger than any record is returned as its
 * length and digest only.
 */
const PAGE_BYTES = 4 * 1024 * 1024;

async function readJournal(context: RedisContext, request: ReadJournalRequest): Promise<JournalPage> {
  const { incarnation: store } = context;
  const { meta, drain, audit } = context.lane(request.lane);
  const { position, limit } = request;
  const args = { incarnation: store, position, limit, maxBytes: PAGE_BYTES, maxElement: MAX_ELEMENT_BYTES };
  const answer = asList(await context.fcall('read_journal', { keys: { meta, drain, audit }, args }));
  return {
    store,
    counted: asNumber(answer[1]),
    drained: asNumber(answer[2]),
    removed: asNumber(answer[3]),
    surplus: asNumber(answer[4]),
    foreign: asNumber(answer[5]),
    length: asNumber(answer[6]),
    position: asNumber(answer[7]),
    elements: asList(answer[8]).map((element) => readElement(request.lane, element)),
  };
}

const MAX_PAGE = 1000;

/** Counts the elements of a lane's journal that are records, page by page, in the same way as the drain counts them. */
export async function countRecords(context: RedisContext, lane: number): Promise<number> {
  let [records, position] = [0, 0];
  for (;;) {
    const page = await readJournal(context, { lane, position, limit: MAX_PAGE });
    records += page.elements.filter(({ entry }) => entry !== undefined).length;
    position = page.position + page.elements.length;
    if (position >= page.removed + page.length) return records;
  }
}

/** Reads records in order. A record's sequence is counted from the head of the journal on; elements that are not records are skipped. */
async function readAudit(
  context: RedisContext,
  { lane, fromSequence, limit }: ReadAuditRequest,
): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  let position = 0;
  let sequence: number | undefined;
  for (;;) {
    const page = await readJournal(context, { lane, position, limit: Math.min(MAX_PAGE, 4 * limit) });
    sequence ??= page.drained;
    for (const { entry } of page.elements) {
      if (entry === undefined) continue;
      const { counted: _, ...record } = entry;
      sequence += 1;
      if (sequence >= fromSequence) entries.push({ ...record, sequence });
      if (entries.length === limit) return entries;
    }
    position = page.position + page.elements.length;
    if (position >= page.removed + page.length) return entries;
  }
}
