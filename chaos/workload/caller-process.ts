// A caller. CHAOS_CALLER holds its setting as JSON. It may be killed at any moment: its journal shows its successor which calls have no
// answer yet, and the successor asks for those again, by their id or by their key. The process ends when every call has its answer.
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { connect, PlaneError, type CallAnswer, type ConnectOptions, type SessionHandle } from 'sallyport/client';
import { openStore } from 'sallyport/testing';
import { seenOutcome, type CallerEntry } from './answers.ts';
import { openJournal, readJournal } from './journal.ts';
import { monotonicMs } from './monotonic.ts';
import type { PlannedCall } from './plan.ts';
import { MODULE } from './tools.ts';

export interface CallerSetting {
  readonly store: ConnectOptions;
  readonly startAtMs: number;
  readonly calls: string;
  readonly sessions: string;
  readonly journal: string;
}

const MAX_IN_FLIGHT = 96;
const AGAIN_MS = 60;
const AUDIT_EVERY = 10;

const setting = JSON.parse(process.env['CHAOS_CALLER']!) as CallerSetting;
const calls = JSON.parse(readFileSync(setting.calls, 'utf8')) as PlannedCall[];
const sessions = JSON.parse(readFileSync(setting.sessions, 'utf8')) as SessionHandle[];
const before = readJournal<CallerEntry>(setting.journal);
const note = openJournal<CallerEntry>(setting.journal);
const client = await connect(setting.store);
const store = await openStore(setting.store);

const finished = new Set<number>();
const submitted = new Set<number>();
const ids = new Map<number, string>();
const cancelled = new Set<number>();
for (const entry of before) {
  if (entry.what === 'answered' && entry.kind !== 'pending') finished.add(entry.index);
  if (entry.what === 'submitted') submitted.add(entry.index);
  if (entry.what === 'known') ids.set(entry.index, entry.callId);
  if (entry.what === 'cancelled') cancelled.add(entry.index);
}

/** Makes the call, or asks for its answer. Undefined: the attempt failed, so the caller does not know the result and must ask again. */
async function tryOnce(call: PlannedCall): Promise<CallAnswer | 'unknown' | 'session-ended' | undefined> {
  const session = sessions[call.session]!;
  const known = ids.get(call.index);
  try {
    if (known !== undefined && call.index % 2 === 1) {
      return await client.wait(session, known, { waitMs: call.waitMs });
    }
    return await client.call(session, `${MODULE}.${call.tool}`, call.args, {
      key: call.key,
      deadlineMs: call.deadlineMs,
      waitMs: call.waitMs,
      onEvent: (event) => {
        if (event.kind === 'queued') learn(call, event.callId);
      },
    });
  } catch (error) {
    const code = error instanceof PlaneError ? error.code : String(error);
    if (code === 'CALL_UNKNOWN') return 'unknown';
    if (code === 'SESSION_INVALID') return 'session-ended';
    note({ what: 'trouble', index: call.index, code });
    return undefined;
  }
}

function learn({ index }: PlannedCall, callId: string): void {
  if (ids.get(index) === callId) return;
  ids.set(index, callId);
  note({ what: 'known', index, callId });
}

function isOver(call: PlannedCall, answer: CallAnswer): boolean {
  if (answer.kind === 'pending') return false;
  const { kind } = answer.outcome;
  // Nothing was accepted, or nothing ran and the key is free, so the same call may be made again. One call in four gives up instead.
  if (kind === 'overloaded' || kind === 'stale') return call.index % 4 === 0;
  return true;
}

async function see(call: PlannedCall): Promise<void> {
  const { index } = call;
  note({ what: 'submitted', index, again: submitted.has(index) });
  if (call.cancelAfterMs !== undefined && !cancelled.has(index)) void cancelLater(call, call.cancelAfterMs);
  for (;;) {
    const by = ids.has(index) && index % 2 === 1 ? 'id' : 'key';
    const answer = await tryOnce(call);
    if (answer === undefined) {
      await pause(AGAIN_MS);
      continue;
    }
    if (typeof answer === 'string') return note({ what: 'answered', index, kind: answer, by });
    const over = isOver(call, answer);
    const callId = 'callId' in answer ? { callId: answer.callId as string } : {};
    if (answer.kind !== 'refused') learn(call, answer.callId);
    if (!over && answer.kind === 'refused') {
      note({ what: 'trouble', index, code: answer.outcome.kind });
      await pause(AGAIN_MS);
      continue;
    }
    const outcome = answer.kind === 'pending' ? {} : { outcome: seenOutcome(answer.outcome) };
    note({ what: 'answered', index, kind: answer.kind, by, ...callId, ...outcome, ...(await auditNow(call, answer)) });
    if (over) return;
  }
}

/** Reads the audit sequence after a reply: the record of the call's end must already be in the audit then. */
async function auditNow(call: PlannedCall, answer: CallAnswer): Promise<{ auditSequence?: number }> {
  if (answer.kind !== 'settled' || call.index % AUDIT_EVERY !== 0) return {};
  try {
    return { auditSequence: (await store.auditState({ lane: 0 })).sequence };
  } catch {
    return {};
  }
}

async function cancelLater(call: PlannedCall, afterMs: number): Promise<void> {
  while (!ids.has(call.index)) {
    if (finished.has(call.index)) return;
    await pause(2);
  }
  await pause(afterMs);
  const callId = ids.get(call.index)!;
  note({ what: 'cancelling', index: call.index, callId });
  for (;;) {
    try {
      const answer = await client.cancel(sessions[call.session]!, callId);
      return note({ what: 'cancelled', index: call.index, callId, answer });
    } catch (error) {
      if (!(error instanceof PlaneError) || !error.code.startsWith('STORE_')) return;
      await pause(AGAIN_MS);
    }
  }
}

note({ what: 'began', pid: process.pid });
console.log('ready');
const inFlight = new Set<Promise<void>>();
for (const call of calls) {
  if (finished.has(call.index)) continue;
  const waitMs = setting.startAtMs + call.submitAtMs - monotonicMs();
  if (waitMs > 1) await pause(waitMs);
  while (inFlight.size >= MAX_IN_FLIGHT) await Promise.race(inFlight);
  const seeing = see(call).finally(() => {
    finished.add(call.index);
    inFlight.delete(seeing);
  });
  inFlight.add(seeing);
}
await Promise.all(inFlight);
await Promise.all([client.close(), store.close()]);
console.log('done');
process.exit(0);
