import type { ChainedRecord } from '../domain/audit/audit-record.ts';
import { errorText } from '../domain/errors/errors.ts';
import type {
  AuditBounds,
  AuditEntry,
  AuditJournal,
  AuditSink,
  AuditStates,
  JournalPage,
} from '../domain/ports/audit-store.ts';
import type { Log } from '../domain/ports/log.ts';
import { chainEntry, parseRecord } from '../domain/audit/record-bytes.ts';
import type { DrainStatements } from './drain-statements.ts';
import { planDrain, type DrainPlan, type DrainProblem } from './plan-drain.ts';

export interface DrainSettings {
  /** Name of this process. The store records it as the holder of the lane. */
  readonly drainer: string;
  readonly leaseMs: number;
  readonly bounds: AuditBounds;
}

export interface DrainNeeds {
  readonly store: AuditStates & AuditJournal;
  readonly sink: AuditSink;
  readonly statements: DrainStatements;
  readonly log: Log;
}

/** State of a lane's drain, as far as this process knows. */
export interface LaneDrainState {
  readonly lane: number;
  /** The other process that drains the lane. */
  readonly heldBy?: string;
  /** Number of journal elements that wait. */
  readonly backlog: number;
  /** Set if records are missing or out of place. The drain then stops until an operator has resolved it. */
  readonly alarm?: string;
  /** The last error of the store or the sink, for example that it does not answer. */
  readonly problem?: string;
}

export interface LaneDrain {
  readonly state: LaneDrainState;
  /**
   * Moves the waiting records to the sink, up to a page. Returns their number, or 1 if it removed only elements that are not records. 0:
   * nothing to do now.
   */
  round(): Promise<number>;
  /** Releases the lane, so that another process can take it before the lease expires. */
  leave(): Promise<void>;
}

const AT_ONCE = 500;
/**
 * No further page is read once the records have this many bytes. One commit to the sink is then at most this plus one page of the journal.
 */
const BYTES_AT_ONCE = 8 * 1024 * 1024;
/**
 * Max elements that are read at once. Elements that are not records do not end the reading, so that a flood of them is reported in one
 * statement instead of thousands.
 */
const MAX_ELEMENTS_AT_ONCE = 50_000;
const WARN_EVERY_MS = 60_000;

interface Head {
  readonly fence: number;
  readonly sequence: number;
  readonly chain: Uint8Array;
}

/**
 * Moves one lane's records to the sink. It reads and chains them, commits records and head in one transaction of the sink, and only then
 * deletes them from the lane. A crash between the two is harmless: the next owner starts from the sink's head.
 */
export function drainLane(lane: number, settings: DrainSettings, needs: DrainNeeds): LaneDrain {
  const { store, sink, statements, log } = needs;
  const { drainer, leaseMs, bounds } = settings;
  let state: LaneDrainState = { lane, backlog: 0 };
  let head: Head | undefined;
  let noted: Pick<DrainPlan, 'surplus' | 'foreign'> | undefined;
  let warnedAt = Number.NEGATIVE_INFINITY;

  async function takeOver(): Promise<number> {
    const claimed = await store.claimAudit({ lane, drainer, leaseMs });
    if (claimed.kind === 'held') {
      head = undefined;
      state = { lane, backlog: 0, heldBy: claimed.by };
      return 0;
    }
    const { fence } = claimed;
    const isOurs = head?.fence === fence;
    // First moves the records that an earlier release stored in another format. Processes of that release no longer write, so moving once
    // for each owner of the lane is enough.
    if (!isOurs) while (await store.moveAudit({ lane }));
    const page = await readAhead();
    if (!isOurs) head = { ...(await sink.openLane({ store: page.store, lane })), fence };
    const from = head!;
    const sunk = await reachOf(from.sequence, page);
    if (sunk < page.drained) {
      const what = `the sink ends with record ${sunk}, and the lane has handed over ${page.drained}`;
      return alarm({ what, gap: { from: sunk + 1, to: page.drained } }, page.length, fence);
    }
    const plan = planDrain(page, sunk);
    const other = await findOther(plan, page.store);
    if (other !== undefined) return alarm({ what: other }, page.length, fence);
    if (!(await commit(from, plan.records, page.store))) return 0;
    if (plan.found !== undefined) await report(plan.found, page.store);
    const { problem } = plan;
    const backlog = page.length - (plan.position - page.removed);
    const accepted = problem?.gap && (await findAccepted(problem, page.store));
    if (problem !== undefined && accepted === undefined && plan.position === page.removed) {
      return alarm(problem, page.length, fence);
    }
    if (!(await remove({ ...plan, through: accepted ?? plan.through }, fence))) return 0;
    if (accepted !== undefined) log.warn({ lane, through: accepted }, 'audit: an operator has accepted a gap');
    // The records before the gap were drained in this round. From the next round on, the lane begins with the gap, and nothing more is
    // drained until an operator accepts it.
    else if (problem !== undefined) return alarm(problem, backlog, fence);
    if (state.alarm !== undefined) log.info({ lane }, 'audit: the lane is drained again');
    state = { lane, backlog };
    const hasMoved = plan.position > page.removed || accepted !== undefined;
    return plan.records.length > 0 ? plan.records.length : Number(hasMoved);
  }

  /** Reads about a page of records, together with all elements between them that are not records. */
  async function readAhead(): Promise<JournalPage> {
    let page = await store.readJournal({ lane, position: 0, limit: AT_ONCE });
    const countOf = ({ elements }: JournalPage): number => elements.filter(({ entry }) => entry !== undefined).length;
    const bytesOf = ({ elements }: JournalPage): number =>
      elements.reduce((sum, { entry, bytes: size }) => sum + (entry === undefined ? 0 : size), 0);
    let [records, bytes] = [countOf(page), bytesOf(page)];
    const hasRoom = (): boolean =>
      records < AT_ONCE && bytes < BYTES_AT_ONCE && page.elements.length < MAX_ELEMENTS_AT_ONCE;
    while (page.elements.length < page.length && hasRoom()) {
      const position = page.removed + page.elements.length;
      const next = await store.readJournal({ lane, position, limit: AT_ONCE });
      if (next.elements.length === 0) break;
      records += countOf(next);
      bytes += bytesOf(next);
      page = { ...next, position: page.position, elements: [...page.elements, ...next.elements] };
    }
    return page;
  }

  /**
   * The sequence up to which the sink is complete. It is beyond the sink's head if an operator has accepted that the records after the head
   * are lost.
   */
  async function reachOf(sequence: number, { store: id, drained }: JournalPage): Promise<number> {
    if (sequence >= drained) return sequence;
    let reach = sequence;
    const gaps = await statements.gaps({ store: id, lane });
    for (;;) {
      const gap = gaps.find(({ from }) => from === reach + 1);
      if (gap === undefined || reach >= drained) return reach;
      reach = gap.to;
    }
  }

  async function findAccepted({ gap }: DrainProblem, id: string): Promise<number | undefined> {
    const gaps = await statements.gaps({ store: id, lane });
    return gaps.find(({ from, to }) => from === gap!.from && to <= gap!.to)?.to;
  }

  /**
   * Compares records that an earlier owner committed to the sink with the same records in the lane, where they still wait to be removed.
   * Returns the problem if they differ.
   */
  async function findOther({ repeated }: DrainPlan, id: string): Promise<string | undefined> {
    if (repeated.length === 0) return undefined;
    const fromSequence = repeated[0]!.sequence;
    const sunk = await sink.readTrail({ store: id, lane, fromSequence, limit: repeated.length });
    const parsed = sunk.map(({ text }) => parseRecord(text));
    const records = new Map(parsed.map((record) => [record?.sequence, record]));
    // Retention deletes from the beginning of the trail. If the sink has none of these records, retention has deleted them all: the sink's
    // head proves that they were there.
    const first = parsed.length === 0 ? undefined : (parsed[0]?.sequence ?? fromSequence);
    const bad = repeated.find((entry) => {
      const record = records.get(entry.sequence);
      if (record === undefined) return first !== undefined && entry.sequence >= first;
      return record.callId !== entry.callId || record.event !== entry.event || record.at !== entry.at;
    });
    return bad && `record ${bad.sequence} of the lane is not the one in the sink: the store holds older data`;
  }

  /** Commits records to the sink. Returns false if another owner has committed to the sink in the meantime. */
  async function commit(from: Head, entries: readonly AuditEntry[], id: string): Promise<boolean> {
    if (entries.length === 0) return true;
    const records = chainAll(entries, id, from.chain);
    const { fence, ...previous } = from;
    // While the commit is under way, it is unknown whether the sink has moved the head. If the commit fails, the next round reads the head
    // from the sink.
    head = undefined;
    if ((await sink.commit({ store: id, lane, fence, previous, records })) === 'fenced') {
      log.warn({ lane, fence }, 'audit: another drainer has this lane');
      return false;
    }
    head = { fence, sequence: entries.at(-1)!.sequence, chain: records.at(-1)!.chain };
    return true;
  }

  /**
   * Adds a statement about foreign elements to the trail before anything is removed from the lane. If the process crashes in between, the
   * next round adds the same statement again.
   */
  async function report(found: NonNullable<DrainPlan['found']>, id: string): Promise<void> {
    const { now: at } = await store.auditState({ lane });
    await statements.add({ kind: 'foreign', at, store: id, lane, ...found });
    if (at - warnedAt < WARN_EVERY_MS) return;
    warnedAt = at;
    const { elements, bytes, uncounted, after } = found;
    log.warn(
      { lane, elements, bytes, uncounted, after },
      'audit: a role has appended to this lane by hand; see audit verify',
    );
  }

  async function remove(plan: DrainPlan, fence: number): Promise<boolean> {
    const { through, position, last, surplus, foreign } = plan;
    const request = { lane, drainer, fence, through, position, last, surplus, foreign, leaseMs, bounds };
    const answer = await store.drainAudit(request);
    if (answer === 'drained') noted = { surplus, foreign };
    else head = undefined;
    if (answer === 'changed') log.warn({ lane }, 'audit: the lane was changed by hand while it was drained');
    return answer === 'drained';
  }

  async function alarm({ what, gap }: DrainProblem, backlog: number, fence: number): Promise<number> {
    if (state.alarm !== what) log.error({ lane, backlog, problem: what }, 'audit: the drain of this lane has stopped');
    state = { lane, backlog, alarm: what };
    await store.alarmAudit({ lane, drainer, fence, problem: what, ...(gap === undefined ? {} : { gap }) });
    return 0;
  }

  return {
    get state() {
      return state;
    },
    async round() {
      try {
        return await takeOver();
      } catch (error) {
        const problem = errorText(error);
        if (state.problem !== problem)
          log.error({ lane, error }, 'audit: records wait, because the store or the sink is in trouble');
        head = undefined;
        state = { ...state, problem };
        return 0;
      }
    },
    async leave() {
      if (head === undefined || noted === undefined || state.alarm !== undefined) return;
      const { fence } = head;
      await store.drainAudit({ lane, drainer, fence, through: 0, position: 0, last: '', ...noted, leaseMs: 0, bounds });
    },
  };
}

function chainAll(entries: readonly AuditEntry[], store: string, previous: Uint8Array): ChainedRecord[] {
  let chain = previous;
  return entries.map((entry) => {
    const chained = chainEntry(entry, store, chain);
    ({ chain } = chained);
    return chained;
  });
}
