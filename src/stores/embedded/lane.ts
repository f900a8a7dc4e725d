import { moveHead, openAuditLane, type LaneRow as AuditLane } from '../sqlite/audit/write-trail.ts';
import type { Database } from '../sqlite/database.ts';
import { SubjectUses } from './subject-uses.ts';

interface LaneRow {
  epoch: number;
  cancelSequence: number;
  entrySequence: number;
  replySequence: number;
  auditSequence: number;
  retainedBytes: number;
  clock: number;
}

interface SlotCount {
  /** How many calls take a place of the slot: those in the queue or with a worker, and parked serial calls. */
  standing: number;
  /** How many calls wait for a place of the slot, in accept order. */
  backlog: number;
}

const CLOCK_EVERY_MS = 1_000;

/**
 * The lane's counters. They are held in memory, because one thread owns the file. They include the changes of the current transaction: `flush`
 * writes them before its commit, `load` reads them again after a rollback.
 */
export class Lane {
  liveCalls = 0;
  liveBytes = 0;
  policyVersion = 0;
  readonly subjects: SubjectUses;
  #row: LaneRow;
  #audit: AuditLane;
  #dirty = false;
  #auditDirty = false;
  #slots = new Map<string, SlotCount>();
  readonly #database: Database;

  readonly #incarnation: string;

  constructor(database: Database, incarnation: string) {
    this.#database = database;
    this.#incarnation = incarnation;
    this.subjects = new SubjectUses(database);
    [this.#row, this.#audit] = this.load();
  }

  /** Reads everything again: after opening, and after a rollback. */
  load(): [LaneRow, AuditLane] {
    const row = this.#database.get<LaneRow>('SELECT * FROM lane WHERE lane = 0');
    if (row === undefined) throw new Error('the lane record is missing');
    this.#row = row;
    this.#dirty = false;
    this.#audit = openAuditLane(this.#database, this.#incarnation, 0);
    this.#auditDirty = false;
    const live = this.#database.get<{ calls: number; bytes: number }>(
      `SELECT count(*) AS calls, coalesce(sum(bytes), 0) AS bytes FROM call INDEXED BY callDeadline
       WHERE state <> 'settled'`,
    );
    this.liveCalls = live?.calls ?? 0;
    this.liveBytes = live?.bytes ?? 0;
    this.policyVersion = this.#database.get<{ version: number }>('SELECT version FROM policy')?.version ?? 0;
    this.subjects.load();
    this.#slots = new Map();
    for (const { slot, standing, calls } of this.#database.all<{ slot: string; standing: number; calls: number }>(
      `SELECT slot, sum(holdsSlot) AS standing, sum(state = 'queued' AND entryId IS NULL) AS calls
       FROM call INDEXED BY callDeadline WHERE state <> 'settled' AND slot IS NOT NULL GROUP BY slot`,
    )) {
      this.#slots.set(slot, { standing, backlog: calls });
    }
    return [row, this.#audit];
  }

  /** Writes the changed counters, as the last step before the commit. */
  flush(now: number): void {
    this.subjects.flush();
    if (this.#auditDirty) moveHead(this.#database, this.#audit.id, this.#audit);
    this.#auditDirty = false;
    if (!this.#dirty && (!this.#database.changed || now - this.#row.clock < CLOCK_EVERY_MS)) return;
    const row = this.#row;
    row.clock = now;
    this.#database.run(
      `UPDATE lane SET epoch = ?, cancelSequence = ?, entrySequence = ?, replySequence = ?, auditSequence = ?,
       retainedBytes = ?, clock = ? WHERE lane = 0`,
      row.epoch,
      row.cancelSequence,
      row.entrySequence,
      row.replySequence,
      row.auditSequence,
      row.retainedBytes,
      row.clock,
    );
    this.#dirty = false;
  }

  get epoch(): number {
    return this.#row.epoch;
  }
  get cancelSequence(): number {
    return this.#row.cancelSequence;
  }
  get retainedBytes(): number {
    return this.#row.retainedBytes;
  }
  /** The last store time that was written to the file. */
  get clock(): number {
    return this.#row.clock;
  }

  raiseEpoch(): void {
    this.#row.epoch += 1;
    this.#dirty = true;
  }

  raiseCancelSequence(): void {
    this.#row.cancelSequence += 1;
    this.#dirty = true;
  }

  retain(bytes: number): void {
    this.#row.retainedBytes += bytes;
    this.#dirty = true;
  }

  nextEntryId(): number {
    this.#dirty = true;
    return ++this.#row.entrySequence;
  }

  nextReplyId(): number {
    this.#dirty = true;
    return ++this.#row.replySequence;
  }

  nextAuditSequence(): number {
    this.#dirty = true;
    return ++this.#row.auditSequence;
  }
  get auditSequence(): number {
    return this.#row.auditSequence;
  }
  get auditLaneId(): number {
    return this.#audit.id;
  }
  /** The link that the next record is chained to. */
  get auditChain(): Uint8Array {
    return this.#audit.chain;
  }

  chainAudit(chain: Uint8Array, bytes: number): void {
    const { sequence, bytes: before } = this.#audit;
    this.#audit = { ...this.#audit, sequence: sequence + 1, chain, bytes: before + bytes };
    this.#auditDirty = true;
  }

  /** Subtracts freed bytes in memory. The database row was already updated. */
  freeAudit(bytes: number): void {
    this.#audit = { ...this.#audit, bytes: this.#audit.bytes - bytes };
  }

  slot(name: string): Readonly<SlotCount> {
    return this.#slots.get(name) ?? { standing: 0, backlog: 0 };
  }

  changeSlot(name: string, change: Partial<SlotCount>): void {
    const slot = this.slot(name);
    const standing = slot.standing + (change.standing ?? 0);
    const backlog = slot.backlog + (change.backlog ?? 0);
    if (standing === 0 && backlog === 0) this.#slots.delete(name);
    else this.#slots.set(name, { standing, backlog });
  }
}
