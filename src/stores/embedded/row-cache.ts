import type { Database } from '../sqlite/database.ts';
import type { RunMemory } from './run-memory.ts';
import type { CallRow, SessionRow } from './rows.ts';

const MAX_CACHED_CALLS = 8_192;
const MAX_CACHED_SESSIONS = 1_024;
const MAX_CACHED_RUNS = 1_024;

/** A session with those of its runs that were looked up and found. */
export interface CachedSession {
  readonly row: SessionRow;
  readonly runs: Set<string>;
}

/**
 * Rows that were written or read recently, so that a call is not read back at its claim and at its settlement. One thread owns the file, so these
 * rows are as current as the file: code that changes a row changes or drops it here in the same step, and a rollback drops everything. A dropped
 * row is read again.
 */
export class RowCache {
  readonly #calls = new Map<number, CallRow>();
  readonly #callsById = new Map<string, CallRow>();
  readonly #sessions = new Map<string, CachedSession>();
  readonly #runs = new Map<string, RunMemory>();
  readonly #changedRuns = new Set<RunMemory>();

  /** Caches the row of a call that is not settled. Rows of settled calls are not needed again and are not cached. */
  keepCall(callId: string, call: CallRow): void {
    if (call.state === 'settled') return;
    if (this.#calls.size >= MAX_CACHED_CALLS) this.clearCalls();
    this.#calls.set(call.seq, call);
    this.#callsById.set(callId, call);
  }

  callById(callId: string): CallRow | undefined {
    return this.#callsById.get(callId);
  }

  callBySeq(seq: number): CallRow | undefined {
    return this.#calls.get(seq);
  }

  dropCall(seq: number, callId: string): void {
    this.#calls.delete(seq);
    this.#callsById.delete(callId);
  }

  keepSession(row: SessionRow): CachedSession {
    if (this.#sessions.size >= MAX_CACHED_SESSIONS) this.#sessions.clear();
    const session = { row, runs: new Set<string>() };
    this.#sessions.set(row.id, session);
    return session;
  }

  session(id: string): CachedSession | undefined {
    return this.#sessions.get(id);
  }

  dropSession(id: string): void {
    this.#sessions.delete(id);
  }

  keepRun(memory: RunMemory): RunMemory {
    if (this.#runs.size >= MAX_CACHED_RUNS) {
      this.#runs.clear();
      // Changed runs stay: their changes are not in the file yet.
      for (const changed of this.#changedRuns) this.#runs.set(nameOf(changed), changed);
    }
    this.#runs.set(nameOf(memory), memory);
    return memory;
  }

  /** Marks a run as changed. Its row is written before the commit, once for all its calls. */
  changeRun(memory: RunMemory): void {
    this.#changedRuns.add(memory);
  }

  flushRuns(database: Database): void {
    for (const { row, attemptsByTool } of this.#changedRuns) {
      database.run(
        'UPDATE run SET attempts = ?, attemptsByTool = ?, cost = ? WHERE session = ? AND run = ?',
        row.attempts,
        JSON.stringify(Object.fromEntries(attemptsByTool)),
        row.cost,
        row.session,
        row.run,
      );
    }
    this.#changedRuns.clear();
  }

  run(session: string, run: string): RunMemory | undefined {
    return this.#runs.get(runName(session, run));
  }

  dropRun(session: string, run: string): void {
    const name = runName(session, run);
    const memory = this.#runs.get(name);
    if (memory !== undefined) this.#changedRuns.delete(memory);
    this.#runs.delete(name);
  }

  clearCalls(): void {
    this.#calls.clear();
    this.#callsById.clear();
  }

  clear(): void {
    this.clearCalls();
    this.#sessions.clear();
    this.#runs.clear();
    this.#changedRuns.clear();
  }
}

function nameOf({ row }: RunMemory): string {
  return runName(row.session, row.run);
}

function runName(session: string, run: string): string {
  return `${session}/${run}`;
}
