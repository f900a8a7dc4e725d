import type { ApprovalId, GrantId } from '../domain/approval.ts';
import type {
  AuditEvent,
  AuditFilter,
  AuditHead,
  ChainedRecord,
  PlacedStatement,
  SignedHead,
  StatementMark,
} from '../domain/audit-record.ts';
import type { CallId, RunId, SessionId, ToolId } from '../domain/ids.ts';

/** Where records are written, each in the same step as what it tells of. A store that keeps them for good is a trail as well. */
export interface AuditSource {
  /** Records of one lane from a sequence on; those that a sink has taken over are no longer there. */
  readAudit(request: ReadAuditRequest): Promise<AuditEntry[]>;
  /** What waits in a lane behind a position, with what the lane has counted at the same moment. */
  readJournal(request: ReadJournalRequest): Promise<JournalPage>;
  /** Brings what an earlier release left in another shape into the journal. Returns whether there may be more. */
  moveAudit(request: { readonly lane: number }): Promise<boolean>;
  auditState(request: { readonly lane: number }): Promise<AuditState>;
  /** The right to drain a lane, for a time. Taken over only when it has run out; every new owner gets a higher fence. */
  claimAudit(request: ClaimAuditRequest): Promise<ClaimAuditAnswer>;
  /**
   * The sink has everything up to `through`: removes elements up to a position from the lane, extends the right to drain it, and moves
   * the bounds beyond which calls are refused. An owner that lost its right changes nothing, and neither does one whose last element
   * is not at that position any more (`changed`).
   */
  drainAudit(request: DrainAuditRequest): Promise<'drained' | 'fenced' | 'changed'>;
  /** Something is wrong with this lane's records, or no longer. Shown by `doctor`; the records stay where they are. */
  alarmAudit(request: {
    readonly lane: number;
    readonly drainer: string;
    readonly fence: number;
    readonly problem: string;
    /** The records that are missing, if that is what is wrong. */
    readonly gap?: SequenceRange;
  }): Promise<'alarmed' | 'fenced'>;
  /** Bounds for lanes that nobody has drained yet. Where somebody has, nothing changes. */
  boundAudit(request: { readonly lane: number; readonly bounds: AuditBounds }): Promise<void>;
  /** Remembers the last signed statement of the trail, apart from the trail. A lower number changes nothing. */
  noteStatement(mark: StatementMark): Promise<void>;
  statementMark(): Promise<StatementMark | undefined>;
}

export interface ReadAuditRequest {
  readonly lane: number;
  readonly fromSequence: number;
  readonly limit: number;
}

export interface ReadJournalRequest {
  readonly lane: number;
  /** Elements that stand before the page, since the lane was made. */
  readonly position: number;
  readonly limit: number;
}

/** All numbers are of one moment. */
export interface JournalPage {
  /** Incarnation of the store. */
  readonly store: string;
  /** Records written by the lane's own count. */
  readonly counted: number;
  /** Up to this record the journal was drained. */
  readonly drained: number;
  /** Elements that were removed since the lane was made. */
  readonly removed: number;
  /** How many more records than the lane had counted were found so far, and how many elements that were no records. */
  readonly surplus: number;
  readonly foreign: number;
  /** Elements in the journal. */
  readonly length: number;
  /** Elements that stand before the first one of this page. */
  readonly position: number;
  readonly elements: readonly JournalElement[];
}

export interface JournalElement {
  readonly bytes: number;
  /** SHA-1 of its first MiB, as the store itself makes it. */
  readonly digest: string;
  /** Absent: a role has appended something that is no record. */
  readonly entry?: JournalEntry;
}

/** A record without a number: it gets one from its place. `counted` is the one that the lane had given it. */
export type JournalEntry = Omit<AuditEntry, 'sequence'> & { readonly counted: number };

/** Both ends belong to it. */
export interface SequenceRange {
  readonly from: number;
  readonly to: number;
}

/** A record as a store has it: what it adds itself, and the bytes of whoever made it. See `readAuditDetail`. */
export interface AuditEntry {
  readonly lane: number;
  /** Gapless per lane, from 1. */
  readonly sequence: number;
  readonly at: number;
  readonly event: AuditEvent;
  /** Call, tool and digest are absent from an administrative record; session, run and identity where it is about no session. */
  readonly callId?: CallId;
  readonly tool?: ToolId;
  readonly session?: SessionId;
  readonly run?: RunId;
  readonly bodyDigest?: string;
  readonly identity?: string;
  /** The last question about the call; of everything that happens from then on. */
  readonly approval?: ApprovalId;
  /** That let the call through; of `grant.created` and `grant.revoked`, the grant itself. */
  readonly grant?: GrantId;
  readonly detail: Uint8Array;
}

export interface AuditState {
  /** Incarnation of the store. */
  readonly store: string;
  /** Of the last record that was written. */
  readonly sequence: number;
  /** A trail of its own: nothing has to be drained. */
  readonly kept: boolean;
  /** Up to here a sink has them. */
  readonly drained: number;
  /** Store time of the last drain that worked, whether or not there was anything; 0: never. */
  readonly drainedAt: number;
  readonly now: number;
  readonly drainer?: string;
  readonly alarm?: string;
  /** The records that the drain misses. */
  readonly gap?: SequenceRange;
  /** Elements that wait to be drained. */
  readonly waiting: number;
  /** How many more records than the lane had counted were drained. */
  readonly surplus: number;
  /** Elements that were no records and were stepped over; when the last one was. */
  readonly foreign: number;
  readonly foreignAt: number;
  /** What is refused now for want of it. */
  readonly refuses: 'nothing' | 'privileged' | 'everything';
}

/** What may pile up before calls are refused. Infinity: never. */
export interface AuditBounds {
  readonly privileged: AuditBound;
  readonly everything: AuditBound;
}

export interface AuditBound {
  /** Records that no sink has yet. */
  readonly records: number;
  /** Time since the last drain that worked. */
  readonly lateMs: number;
}

export interface ClaimAuditRequest {
  readonly lane: number;
  readonly drainer: string;
  readonly leaseMs: number;
}
export type ClaimAuditAnswer =
  | { readonly kind: 'claimed'; readonly fence: number }
  | { readonly kind: 'held'; readonly by: string };

export interface DrainAuditRequest {
  readonly lane: number;
  readonly drainer: string;
  readonly fence: number;
  readonly through: number;
  /** Elements to be gone, since the lane was made, and the digest of the last one. */
  readonly position: number;
  readonly last: string;
  readonly surplus: number;
  readonly foreign: number;
  /** 0 gives the right up. */
  readonly leaseMs: number;
  readonly bounds: AuditBounds;
}

/** Where records are kept for good, each chained to the one before. Append only, except for erased payloads and signed cuts. */
export interface AuditTrail {
  auditHeads(): Promise<AuditHead[]>;
  readTrail(request: ReadTrailRequest): Promise<ChainedRecord[]>;
  /** The newest first, page by page. */
  queryTrail(request: QueryTrailRequest): Promise<TrailPage>;
  /** Compare-and-set: `stale` means that the last statement is no longer the one that this follows; nothing was written. */
  addStatement(statement: NextStatement): Promise<'added' | 'stale'>;
  /** In the order of their numbers. */
  listStatements(request: { readonly after?: number; readonly limit: number }): Promise<PlacedStatement[]>;
  lastStatement(): Promise<PlacedStatement | undefined>;
  /** Deletes the payloads of a subject's records in one step with the statement that says so. Returns how many. */
  erasePayloads(request: EraseRequest): Promise<number | 'stale'>;
  /** Deletes a lane's records up to the cut, and statements, in one step with the statement that says so. */
  cutTrail(request: CutRequest): Promise<'cut' | 'stale'>;
}

/** A statement to be added behind the one with the number `after`; 0 for the first. */
export interface NextStatement extends PlacedStatement {
  readonly after: number;
}

export interface CutRequest {
  readonly cut: SignedHead;
  readonly statement: NextStatement;
  /** Statements to delete: all up to `through` except those with these numbers. */
  readonly drop?: { readonly through: number; readonly keep: readonly number[] };
}

export interface ReadTrailRequest {
  readonly store: string;
  readonly lane: number;
  readonly fromSequence: number;
  readonly limit: number;
}

export interface QueryTrailRequest {
  readonly filter: AuditFilter;
  readonly limit: number;
  /** Only what stands behind it: the `next` of the page before. */
  readonly before?: TrailPlace;
  /** Looks at no more records than this, so that a filter which few records meet does not hold up everybody else. */
  readonly scan?: number;
}

/** Of one record among all lanes: by time, then lane, then sequence. */
export interface TrailPlace {
  readonly at: number;
  readonly store: string;
  readonly lane: number;
  readonly sequence: number;
}

export interface TrailPage {
  readonly records: readonly ChainedRecord[];
  /** Of the last record that was looked at. Absent: there is nothing behind it. */
  readonly next?: TrailPlace;
  /** Records that were found by their columns and whose own text does not answer the query. They are left out; absent: none. */
  readonly strays?: readonly TrailPlace[];
}

export interface EraseRequest {
  readonly tenant: string;
  readonly subject: string;
  readonly heads: readonly SignedHead[];
  readonly statement: NextStatement;
}

/** A trail that takes over what a store's lanes have written. */
export interface AuditSink extends AuditTrail {
  /** Of one lane; made when it is asked for first. */
  openLane(request: { readonly store: string; readonly lane: number }): Promise<AuditHead & { readonly fence: number }>;
  /** Records and head in one transaction, if the head is still where the caller saw it and no later owner has been there. */
  commit(batch: AuditBatch): Promise<'committed' | 'fenced'>;
  close(): Promise<void>;
}

export interface AuditBatch {
  readonly store: string;
  readonly lane: number;
  readonly fence: number;
  readonly previous: { readonly sequence: number; readonly chain: Uint8Array };
  readonly records: readonly ChainedRecord[];
}
