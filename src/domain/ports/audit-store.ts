import type { ApprovalId, GrantId } from '../policy/approval.ts';
import type {
  AuditEvent,
  AuditFilter,
  AuditHead,
  ChainedRecord,
  PlacedStatement,
  SignedHead,
  StatementMark,
} from '../audit/audit-record.ts';
import type { CallId, RunId, SessionId, ToolId } from '../identity/ids.ts';

/** The store that writes audit records, each in the same step as the change it describes. */
export interface AuditSource extends AuditStates, AuditReader, StatementMarks {}

/** Reports how many records each lane has, and how many of them a sink has taken over. */
export interface AuditStates {
  /** All lanes that have audit records: those of subjects and, on Redis, that of the deployment (`DEPLOYMENT_LANE`). */
  readonly auditLanes: readonly number[];
  auditState(request: { readonly lane: number }): Promise<AuditState>;
}

/** Reads the records that the store still has. */
export interface AuditReader {
  /** Records of one lane, starting at a sequence. Records that a sink has taken over are not returned any more. */
  readAudit(request: ReadAuditRequest): Promise<AuditEntry[]>;
}

/** Reads the mark of the last signed statement, for verifiers of a trail. */
export interface MarkReader {
  statementMark(): Promise<StatementMark | undefined>;
}

/** Reads and stores the mark of the last signed statement, for signers of a trail. */
export interface StatementMarks extends MarkReader {
  /** Stores the mark of the trail's last signed statement, outside the trail. A mark with a lower number than the stored one is ignored. */
  noteStatement(mark: StatementMark): Promise<void>;
}

/** Reads and drains the journals of a store that keeps records only until a gateway has moved them to a sink. */
export interface AuditJournal {
  /** The journal elements of a lane after a position, with the lane's counters from the same moment. */
  readJournal(request: ReadJournalRequest): Promise<JournalPage>;
  /** Moves records that an earlier release stored in another format into the journal. Returns whether there may be more. */
  moveAudit(request: { readonly lane: number }): Promise<boolean>;
  /**
   * Claims the right to drain a lane for `leaseMs`. Another drainer can claim it only after that time. Every new claim by another drainer
   * gets a higher fence.
   */
  claimAudit(request: ClaimAuditRequest): Promise<ClaimAuditAnswer>;
  /**
   * Called when the sink has every record up to `through`. Removes the lane's elements up to `position`, extends the right to drain, stores
   * the limits beyond which calls are refused (`bounds`), and clears the alarm. Answers `fenced` if the caller no longer has the right to
   * drain, and `changed` if the last element to remove is no longer at that position. In both cases nothing is changed.
   */
  drainAudit(request: DrainAuditRequest): Promise<'drained' | 'fenced' | 'changed'>;
  /**
   * Stores a description of what is wrong with this lane's records; `doctor` shows it. The records stay where they are. The next successful
   * drain clears the alarm.
   */
  alarmAudit(request: {
    readonly lane: number;
    readonly drainer: string;
    readonly fence: number;
    readonly problem: string;
    /** The missing records, if that is the problem. */
    readonly gap?: SequenceRange;
  }): Promise<'alarmed' | 'fenced'>;
  /**
   * Sets the limits beyond which calls are refused, for a lane that has none yet. A lane that has limits keeps them until its next drain.
   */
  boundAudit(request: { readonly lane: number; readonly bounds: AuditBounds }): Promise<void>;
}

export interface ReadAuditRequest {
  readonly lane: number;
  readonly fromSequence: number;
  readonly limit: number;
}

export interface ReadJournalRequest {
  readonly lane: number;
  /** The number of elements ever appended to the lane before this page starts, including removed ones. */
  readonly position: number;
  readonly limit: number;
}

/** One page of a lane's journal. All numbers are from the same moment. */
export interface JournalPage {
  /** Incarnation of the store. */
  readonly store: string;
  /** Records written so far, by the lane's own count. */
  readonly counted: number;
  /** The sequence of the last drained record. */
  readonly drained: number;
  /** Elements removed since the lane was created. */
  readonly removed: number;
  /** `surplus`: records found so far that the lane itself did not count. `foreign`: elements found so far that are not records. */
  readonly surplus: number;
  readonly foreign: number;
  /** Elements currently in the journal. */
  readonly length: number;
  /** The number of elements ever appended to the lane before the first one of this page, including removed ones. */
  readonly position: number;
  readonly elements: readonly JournalElement[];
}

export interface JournalElement {
  readonly bytes: number;
  /** SHA-1 of the element's first MiB, as computed by the store itself. */
  readonly digest: string;
  /** Absent: the element is not a record. Every Redis role that writes records can also append such bytes. */
  readonly entry?: JournalEntry;
}

/**
 * A record as the journal has it. Its sequence follows from its place in the journal. `counted` is the number that it states for itself,
 * which an attacker with a Redis role can choose.
 */
export type JournalEntry = Omit<AuditEntry, 'sequence'> & { readonly counted: number };

/** Both ends are inclusive. */
export interface SequenceRange {
  readonly from: number;
  readonly to: number;
}

/**
 * A record as the store keeps it: fields that the store itself adds, and in `detail` the bytes from the writer of the record. See
 * `readAuditDetail`.
 */
export interface AuditEntry {
  readonly lane: number;
  /** Gapless per lane, starting at 1. */
  readonly sequence: number;
  readonly at: number;
  readonly event: AuditEvent;
  /**
   * Call, tool and digest are absent from an administrative record. Session, run and identity are absent from a record that concerns no
   * session.
   */
  readonly callId?: CallId;
  readonly tool?: ToolId;
  readonly session?: SessionId;
  readonly run?: RunId;
  readonly bodyDigest?: string;
  readonly identity?: string;
  /** The last approval of the call; set on all its records from then on. */
  readonly approval?: ApprovalId;
  /** The grant that allowed the call; in `grant.created` and `grant.revoked`, the grant itself. */
  readonly grant?: GrantId;
  readonly detail: Uint8Array;
}

export interface AuditState {
  /** Incarnation of the store. */
  readonly store: string;
  /** The sequence of the last record written. */
  readonly sequence: number;
  /** The store keeps its own trail: nothing has to be drained. */
  readonly kept: boolean;
  /** The sequence of the last record that a sink has. */
  readonly drained: number;
  /** Store time of the last successful drain, even if it had nothing to move; 0: never. */
  readonly drainedAt: number;
  readonly now: number;
  readonly drainer?: string;
  readonly alarm?: string;
  /** The records that the drain found missing. */
  readonly gap?: SequenceRange;
  /** Elements that wait to be drained. */
  readonly waiting: number;
  /** Drained records that the lane itself did not count. */
  readonly surplus: number;
  /**
   * `foreign`: elements that are not records and were skipped. `foreignAt`: store time at which such an element, or a surplus record, was
   * last found.
   */
  readonly foreign: number;
  readonly foreignAt: number;
  /** Which calls are refused now, because too many records wait to be drained or because the last drain was too long ago. */
  readonly refuses: 'nothing' | 'privileged' | 'everything';
}

/** How far the drain may fall behind before calls are refused. Infinity: never refused. */
export interface AuditBounds {
  readonly privileged: AuditBound;
  readonly everything: AuditBound;
}

export interface AuditBound {
  /** Max number of records that no sink has yet. */
  readonly records: number;
  /** Max time since the last successful drain. */
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
  /**
   * All elements up to `position` are removed; positions count from the creation of the lane. `last` is the digest of the last of these
   * elements, which the store compares first.
   */
  readonly position: number;
  readonly last: string;
  readonly surplus: number;
  readonly foreign: number;
  /** How long the right to drain is extended. 0: the right is given up. */
  readonly leaseMs: number;
  readonly bounds: AuditBounds;
}

/** Reads the records of a trail in their order. */
export interface TrailRecords {
  auditHeads(): Promise<AuditHead[]>;
  readTrail(request: ReadTrailRequest): Promise<ChainedRecord[]>;
}

/** Searches a trail. */
export interface TrailQuery {
  /** Returns records newest first, page by page. */
  queryTrail(request: QueryTrailRequest): Promise<TrailPage>;
}

/**
 * The permanent store of records, each chained to the one before. Records are only appended. Exceptions: payloads can be erased, and old
 * records cut off, both with a signed statement.
 */
export interface AuditTrail extends TrailRecords, TrailQuery {
  /** Compare-and-set: `stale` means that `after` is no longer the last statement; nothing was written. */
  addStatement(statement: NextStatement): Promise<'added' | 'stale'>;
  /** Ordered by number. */
  listStatements(request: { readonly after?: number; readonly limit: number }): Promise<PlacedStatement[]>;
  lastStatement(): Promise<PlacedStatement | undefined>;
  /** Deletes the payloads of a subject's records, in one step with the signed statement about it. Returns how many were deleted. */
  erasePayloads(request: EraseRequest): Promise<number | 'stale'>;
  /** Deletes a lane's records up to the head in `cut`, and the statements in `drop`, in one step with the signed statement about it. */
  cutTrail(request: CutRequest): Promise<'cut' | 'stale'>;
}

/** A statement to append after the one with the number `after`; 0 for the first. */
export interface NextStatement extends PlacedStatement {
  readonly after: number;
}

export interface CutRequest {
  readonly cut: SignedHead;
  readonly statement: NextStatement;
  /** Statements to delete: all up to `through`, except those with the numbers in `keep`. */
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
  /** Continues a query: returns only records that are older than this place. Pass the `next` of the previous page. */
  readonly before?: TrailPlace;
  /** Max records to scan, so that a filter that matches few records does not block other requests. */
  readonly scan?: number;
}

/** The place of one record among all lanes: ordered by time, then lane, then sequence. */
export interface TrailPlace {
  readonly at: number;
  readonly store: string;
  readonly lane: number;
  readonly sequence: number;
}

export interface TrailPage {
  readonly records: readonly ChainedRecord[];
  /** The place of the last scanned record. Absent: there are no more. */
  readonly next?: TrailPlace;
  /**
   * Places of records that the filter finds by their columns but not by their own text: an attacker changed the columns. They are left out
   * of `records`. Absent: there are none.
   */
  readonly strays?: readonly TrailPlace[];
}

export interface EraseRequest {
  readonly tenant: string;
  readonly subject: string;
  readonly heads: readonly SignedHead[];
  readonly statement: NextStatement;
}

/** A trail that takes over the records that a store's lanes wrote. */
export interface AuditSink extends AuditTrail {
  /** Opens one lane; creates it on first use. */
  openLane(request: { readonly store: string; readonly lane: number }): Promise<AuditHead & { readonly fence: number }>;
  /**
   * Writes the records and the new head in one transaction. Answers `fenced`, and writes nothing, if the head is not the one that the
   * caller read, or if a later owner of the lane has written.
   */
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
