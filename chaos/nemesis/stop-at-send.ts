import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { callIdFor } from 'sallyport/testing';
import { firstGeneration } from '../checks/check.ts';
import type { Slot } from '../stage/slot.ts';
import { LEASE_MS, type Stage } from '../stage/stage.ts';
import type { CallerEntry, OperatorEntry } from '../workload/answers.ts';
import { readJournal, type Timed } from '../workload/journal.ts';
import { monotonicMs } from '../workload/monotonic.ts';
import { armTrap, type TrapEntry, type TrapPlace } from '../workload/stop-trap.ts';
import { STOP_AT_SEND, type Fault, type FaultRun } from './fault.ts';

/** Max wait for a call whose permission will be withdrawn. */
const ARMED_MS = 4000;
const TAKEN_MS = 5000;
const LOOK_EVERY_MS = 50;
/** Longer than a verdict is trusted (250 ms), so everything that the worker knew is too old when it goes on. */
const MIN_STOP_MS = 400;
/** If the permission was not withdrawn by then, the fault is just another stop of a worker. */
const MAX_STOP_MS = 2 * LEASE_MS;

/**
 * A worker stops itself between the delivery of a call and the first line of its tool. It goes on when the withdrawal of that call's
 * permission was acknowledged: the cancel of the call, the revocation of its session, or the closing of its tool.
 */
export function stopAtSend(weight: number, aim: (run: FaultRun) => Slot | undefined): Fault {
  return {
    kind: STOP_AT_SEND,
    weight,
    about: 'a worker stops right after a send, between delivery and start, until the call was cancelled or revoked',
    async act(run) {
      const slot = aim(run);
      if (slot === undefined || existsSync(run.stage.trapFile(slot.name))) return 'nobody';
      const place = run.planned.force < 0.5 ? 'hook' : 'start';
      Object.assign(run.record, { target: slot.name, pid: slot.pid!, detail: place });
      run.later(trapAndRelease(run, slot, place));
      return 'done';
    },
  };
}

/** Runs in the background; other faults go on in the meantime. */
async function trapAndRelease(run: FaultRun, slot: Slot, place: TrapPlace): Promise<void> {
  const { record } = run;
  const trapped = await trap(run.stage, run.stage.trapFile(slot.name), place);
  if (trapped === undefined) {
    record.detail += ', no call came';
    return;
  }
  // The worker has stopped itself. This signal also marks its slot as stopped.
  if (slot.pid === trapped.pid) slot.signal('SIGSTOP');
  Object.assign(record, { pid: trapped.pid, fromMs: trapped.atMs, toMs: Infinity });
  await release(run, slot, trapped);
}

/**
 * Arms the trap and waits until the worker has stopped itself; undefined if no suitable call came. If the worker is killed before that, the
 * trap stays armed for its successor.
 */
async function trap(stage: Stage, file: string, place: TrapPlace): Promise<Timed<TrapEntry> | undefined> {
  const sinceMs = monotonicMs();
  const disarm = armTrap(file, place);
  for (;;) {
    await pause(LOOK_EVERY_MS);
    const trapped = readJournal<TrapEntry>(stage.files.trapped).find(
      (each) => each.trap === file && each.atMs > sinceMs,
    );
    if (trapped !== undefined) return trapped;
    const armedMs = monotonicMs() - sinceMs;
    // A worker that has taken the trap writes its entry at once, unless it is killed at that moment.
    if (armedMs > ARMED_MS && (disarm() || armedMs > ARMED_MS + TAKEN_MS)) return undefined;
  }
}

async function release({ stage, record }: FaultRun, slot: Slot, trapped: Timed<TrapEntry>): Promise<void> {
  const { pid, atMs, callId } = trapped;
  let withdrawal: string | undefined;
  while (slot.pid === pid && monotonicMs() < atMs + MAX_STOP_MS) {
    withdrawal ??= withdrawalOf(stage, callId, atMs);
    if (withdrawal !== undefined && monotonicMs() > atMs + MIN_STOP_MS) break;
    await pause(LOOK_EVERY_MS);
  }
  record.detail += `, ${withdrawal ?? 'not withdrawn'}, call ${callId}`;
  // Recorded before the worker is resumed, so that every tool which it starts from then on starts after this time.
  record.toMs = monotonicMs();
  if (slot.pid === pid) slot.signal('SIGCONT');
}

/** The withdrawal of this call's permission that was acknowledged; undefined if there is none yet. */
function withdrawalOf(stage: Stage, callId: string, sinceMs: number): string | undefined {
  const call = stage.plan.calls.find(
    ({ session, key }) => callIdFor(stage.sessions[session]!.id, key) === firstGeneration(callId),
  );
  if (call?.fate === 'cancelled') {
    const entries = readJournal<CallerEntry>(stage.files.caller(call.caller));
    return entries.some((entry) => entry.what === 'cancelled' && entry.callId === callId) ? 'cancelled' : undefined;
  }
  const entries = readJournal<OperatorEntry>(stage.files.operator);
  const since = entries.filter(({ atMs }) => atMs > sinceMs);
  if (call?.fate === 'gated')
    return since.some((entry) => entry.what === 'policy' && entry.closed) ? 'closed' : undefined;
  const isRevoked = entries.some((entry) => entry.what === 'revoked' && entry.session === call?.session);
  return isRevoked ? 'revoked' : undefined;
}
