import type { RunMemory } from './run-memory.ts';
import type { CallRow, SessionRow } from './rows.ts';

const MAX_CALLS = 8_192;
const MAX_SESSIONS = 1_024;
const MAX_RUNS = 1_024;

/** A session with those of its runs that were looked up and found. */
export interface CachedSession {
  readonly row: SessionRow;
  readonly runs: Set<string>;
}

/**
 * Rows that were written or read lately, so that a call is not read back at its claim and at its settlement. One thread owns the
 * file, so these are as current as the file itself: whoever changes a row changes or drops it here in the same step, and a
 * rollback drops everything. What is dropped is read again.
 */
export class RowCache {
  readonly #calls = new Map<number, CallRow>();
  readonly #callsById = new Map<string, CallRow>();
  readonly #sessions = new Map<string, CachedSession>();
  readonly #runs = new Map<string, RunMemory>();

  /** Only calls under way: nothing waits for the others. */
  keepCall(callId: string, call: CallRow): void {
    if (call.state === 'settled') return;
    if (this.#calls.size >= MAX_CALLS) this.clearCalls();
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
    if (this.#sessions.size >= MAX_SESSIONS) this.#sessions.clear();
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
    if (this.#runs.size >= MAX_RUNS) this.#runs.clear();
    this.#runs.set(runName(memory.row.session, memory.row.run), memory);
    return memory;
  }

  run(session: string, run: string): RunMemory | undefined {
    return this.#runs.get(runName(session, run));
  }

  dropRun(session: string, run: string): void {
    this.#runs.delete(runName(session, run));
  }

  clearCalls(): void {
    this.#calls.clear();
    this.#callsById.clear();
  }

  clear(): void {
    this.clearCalls();
    this.#sessions.clear();
    this.#runs.clear();
  }
}

function runName(session: string, run: string): string {
  return `${session}/${run}`;
}
