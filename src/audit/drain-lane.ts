import type { ChainedRecord } from '../domain/audit-record.ts';
import { errorText } from '../domain/error-text.ts';
import type { AuditBounds, AuditEntry, AuditSink, AuditSource, AuditState } from '../ports/audit-store.ts';
import type { Log } from '../ports/log.ts';
import { chainEntry } from '../wire/audit-record.ts';

export interface DrainSettings {
  /** Names this process. */
  readonly drainer: string;
  readonly leaseMs: number;
  readonly bounds: AuditBounds;
}

export interface DrainNeeds {
  readonly store: AuditSource;
  readonly sink: AuditSink;
  readonly log: Log;
}

/** How a lane stands, as far as this process knows. */
export interface LaneDrainState {
  readonly lane: number;
  /** Another process drains it. */
  readonly heldBy?: string;
  /** Records that wait. */
  readonly backlog: number;
  /** Records are missing or out of place: nothing more is taken until somebody has looked. */
  readonly alarm?: string;
  /** The store or the sink does not answer. */
  readonly problem?: string;
}

export interface LaneDrain {
  readonly state: LaneDrainState;
  /** Takes over what there is, up to a page. Returns how many records; 0 means that there is nothing to do now. */
  round(): Promise<number>;
  /** Gives the lane up, so that another process need not wait. */
  leave(): Promise<void>;
}

const AT_ONCE = 500;

interface Head {
  readonly fence: number;
  readonly sequence: number;
  readonly chain: Uint8Array;
}

/**
 * Moves one lane's records to the sink: reads, chains, commits records and head in one transaction of the sink, and only then has the
 * lane delete them. A crash between the two is harmless: the next owner starts from the sink's head.
 */
export function drainLane(lane: number, settings: DrainSettings, { store, sink, log }: DrainNeeds): LaneDrain {
  const { drainer, leaseMs, bounds } = settings;
  let state: LaneDrainState = { lane, backlog: 0 };
  let head: Head | undefined;

  async function takeOver(): Promise<number> {
    const claimed = await store.claimAudit({ lane, drainer, leaseMs });
    if (claimed.kind === 'held') {
      head = undefined;
      state = { lane, backlog: 0, heldBy: claimed.by };
      return 0;
    }
    // Before the records: what was written until then has to be found.
    const lanes = await store.auditState({ lane });
    if (head?.fence !== claimed.fence)
      head = { ...(await sink.openLane({ store: lanes.store, lane })), fence: claimed.fence };
    const from = head;
    const entries = await store.readAudit({ lane, fromSequence: from.sequence + 1, limit: AT_ONCE });
    const inOrder = takeInOrder(entries, from.sequence);
    const moved = await commit(from, inOrder, lanes);
    if (moved === undefined) return 0;
    const gap = findGap(lanes, { before: from.sequence, now: moved.sequence }, entries[inOrder.length], entries.length);
    if (gap !== undefined) return alarm(gap, claimed.fence, lanes.sequence - moved.sequence);
    const drained = { lane, drainer, fence: claimed.fence, through: moved.sequence, leaseMs, bounds };
    if ((await store.drainAudit(drained)) === 'fenced') head = undefined;
    if (state.alarm !== undefined) log.info({ lane }, 'audit: the lane is whole again');
    state = { lane, backlog: Math.max(0, lanes.sequence - moved.sequence) };
    return inOrder.length;
  }

  /** Undefined: somebody else has been at the sink since. */
  async function commit(from: Head, entries: readonly AuditEntry[], lanes: AuditState): Promise<Head | undefined> {
    if (entries.length === 0) return from;
    const records = chainAll(entries, lanes.store, from.chain);
    const { fence, ...previous } = from;
    // Unknown until it has answered: after trouble the sink is asked where its head is.
    head = undefined;
    if ((await sink.commit({ store: lanes.store, lane, fence, previous, records })) === 'fenced') {
      log.warn({ lane, fence }, 'audit: another drainer has this lane');
      return undefined;
    }
    head = { fence, sequence: from.sequence + records.length, chain: records.at(-1)!.chain };
    return head;
  }

  async function alarm(what: string, fence: number, backlog: number): Promise<number> {
    if (state.alarm !== what) log.error({ lane, backlog, problem: what }, 'audit: the drain of this lane has stopped');
    state = { lane, backlog: Math.max(0, backlog), alarm: what };
    await store.alarmAudit({ lane, drainer, fence, problem: what });
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
      if (head === undefined || state.alarm !== undefined) return;
      const { fence, sequence } = head;
      await store.drainAudit({ lane, drainer, fence, through: sequence, leaseMs: 0, bounds });
    },
  };
}

function takeInOrder(entries: readonly AuditEntry[], after: number): readonly AuditEntry[] {
  const broken = entries.findIndex((entry, index) => entry.sequence !== after + 1 + index);
  return broken === -1 ? entries : entries.slice(0, broken);
}

function chainAll(entries: readonly AuditEntry[], store: string, previous: Uint8Array): ChainedRecord[] {
  let chain = previous;
  return entries.map((entry) => {
    const chained = chainEntry(entry, store, chain);
    ({ chain } = chained);
    return chained;
  });
}

/** The lane had counted so far before we looked, and all of it has to be in the sink or in the lane. */
function findGap(
  lanes: AuditState,
  sunk: { readonly before: number; readonly now: number },
  next: AuditEntry | undefined,
  read: number,
): string | undefined {
  if (next !== undefined) return `record ${sunk.now + 1} is missing; the lane goes on with ${next.sequence}`;
  if (read < AT_ONCE && lanes.sequence > sunk.now) {
    return `record ${sunk.now + 1} is missing; the lane has counted ${lanes.sequence}`;
  }
  if (lanes.sequence < sunk.before) {
    return `the lane has counted ${lanes.sequence} records and the sink has ${sunk.before}: the store holds older data`;
  }
  return undefined;
}
