import { HISTORY_LENGTH, type Attempt, type AttemptEnding, type RunState } from '../../../domain/call/attempt.ts';
import type { SettledAttempt } from '../../../domain/ports/call-requests.ts';
import { encodeHistory, shortSignature, toolTag } from '../../../domain/call/history.ts';
import type { CallRow, RunRow } from '../rows.ts';
import { RunMemory } from '../run-memory.ts';
import type { Transaction } from '../transaction.ts';
import { addLoopEnd, countStall, findStalls } from './session-row.ts';
import { dropRun } from './sessions.ts';

/** Counts one more attempt of a run. Returns zeros if the run does not exist. */
export function countAttempt(
  transaction: Transaction,
  { session, run, tool, bodyDigest }: Pick<CallRow, 'session' | 'run' | 'tool' | 'bodyDigest'>,
): { readonly sequence: number; readonly toolSequence: number } {
  const memory = findRun(transaction, session, run);
  if (memory === undefined) return { sequence: 0, toolSequence: 0 };
  const sequence = memory.row.attempts + 1;
  const toolSequence = (memory.attemptsByTool.get(tool) ?? 0) + 1;
  memory.row.attempts = sequence;
  memory.attemptsByTool.set(tool, toolSequence);
  memory.remember(sequence, shortSignature(bodyDigest));
  transaction.rows.changeRun(memory);
  return { sequence, toolSequence };
}

/** Returns what a delivery contains about its run. The history is included only if the attempt looks like a repetition. */
export function runStateOf(
  transaction: Transaction,
  call: CallRow,
): { readonly runState: RunState; readonly history?: Uint8Array } {
  const { session, run, sequence, toolSequence, bodyDigest } = call;
  const memory = findRun(transaction, session, run);
  if (memory === undefined) {
    return { runState: { sequence, toolSequence, startedAt: 0, cost: 0, loopEnds: [] } };
  }
  const { startedAt, cost, loopEnds } = memory.row;
  const stalls = findStalls(transaction, session);
  const runState = {
    sequence,
    toolSequence,
    startedAt,
    cost,
    loopEnds,
    ...(stalls.length === 0 ? undefined : { stalls }),
  };
  if (!memory.looksRepeated(sequence, shortSignature(bodyDigest))) return { runState };
  const attempts = readAttempts(transaction, memory.row, sequence).map(toAttempt);
  return { runState, history: encodeHistory(attempts) };
}

/**
 * Records how an attempt ended and returns what is stored with its call. Without `attempt`, no worker reported a result, for example
 * because the call was cancelled or expired: it counts as refused.
 */
export function endAttempt(transaction: Transaction, call: CallRow, attempt: SettledAttempt | undefined): string {
  const ending = attempt?.ending ?? 'refused';
  const { session, run } = call;
  transaction.rows.run(session, run)?.end(call.sequence, ending, attempt?.effective, attempt?.target);
  if (attempt?.stall !== undefined) countStall(transaction, session, attempt.stall);
  if (attempt?.cost !== undefined && attempt.cost > 0) addCost(transaction, session, run, attempt.cost);
  if (attempt?.endsRun !== undefined && dropRun(transaction, { session, run }))
    addLoopEnd(transaction, session, run, attempt.endsRun.restMs);
  const { result = null, effective = null, target, tally } = attempt ?? {};
  const more = target === undefined && tally === undefined ? [] : [target ?? null, tally ?? null];
  return JSON.stringify([ending, result, effective, ...more]);
}

function addCost(transaction: Transaction, session: string, run: string, cost: number): void {
  const memory = findRun(transaction, session, run);
  if (memory === undefined) return;
  memory.row.cost += cost;
  transaction.rows.changeRun(memory);
}

function findRun(transaction: Transaction, session: string, run: string): RunMemory | undefined {
  const { database, rows } = transaction;
  const known = rows.run(session, run);
  if (known !== undefined) return known;
  const found = database.get<Omit<RunRow, 'loopEnds'> & { readonly attemptsByTool: string; readonly loopEnds: string }>(
    'SELECT session, run, startedAt, attempts, attemptsByTool, cost, loopEnds FROM run WHERE session = ? AND run = ?',
    session,
    run,
  );
  if (found === undefined) return undefined;
  const byTool = new Map(Object.entries(JSON.parse(found.attemptsByTool) as Record<string, number>));
  const row: RunRow = { ...found, loopEnds: JSON.parse(found.loopEnds) as number[] };
  const memory = new RunMemory(row, byTool);
  for (const attempt of readAttempts(transaction, row, row.attempts + 1)) {
    const [ending, , effective, target] = parseAttempt(attempt.attempt);
    memory.remember(attempt.sequence, shortSignature(attempt.bodyDigest));
    if (ending !== 'open') memory.end(attempt.sequence, ending, effective, target);
  }
  return rows.keepRun(memory);
}

interface AttemptRow {
  readonly sequence: number;
  readonly tool: string;
  readonly bodyDigest: string;
  readonly acceptedAt: number;
  readonly attempt: string | null;
}

/** Reads the latest attempts of a run. A run that was ended and opened again under its old id starts without a history. */
function readAttempts({ database }: Transaction, { session, run, startedAt }: RunRow, before: number): AttemptRow[] {
  return database.all<AttemptRow>(
    `SELECT sequence, tool, bodyDigest, acceptedAt, attempt FROM call INDEXED BY callRun
     WHERE session = ? AND run = ? AND sequence BETWEEN ? AND ? AND acceptedAt >= ? ORDER BY sequence`,
    session,
    run,
    Math.max(1, before - HISTORY_LENGTH),
    before - 1,
    startedAt,
  );
}

/** Ending, result and effective signature; then target and tally, if there is at least one of them. */
type StoredAttempt = [AttemptEnding, string | null, string | null, (string | null)?, (number | null)?];

function parseAttempt(text: string | null): StoredAttempt {
  return text === null ? ['open', null, null] : (JSON.parse(text) as StoredAttempt);
}

function toAttempt({ sequence, tool, bodyDigest, acceptedAt, attempt }: AttemptRow): Attempt {
  const [ending, result, effective, target = null, tally = null] = parseAttempt(attempt);
  return {
    sequence,
    tool: toolTag(tool),
    raw: shortSignature(bodyDigest),
    at: acceptedAt,
    ending,
    ...(result === null ? {} : { result }),
    ...(effective === null ? {} : { effective }),
    ...(target === null ? {} : { target }),
    ...(tally === null ? {} : { tally }),
  };
}
