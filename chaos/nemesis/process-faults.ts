import { writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Slot, SlotRole } from '../stage/slot.ts';
import { LEASE_MS, type Stage } from '../stage/stage.ts';
import { monotonicMs } from '../workload/monotonic.ts';
import type { Fault, FaultRun } from './fault.ts';
import { stopAtSend } from './stop-at-send.ts';

function slotsOf({ workers, callers, operator }: Stage, role: SlotRole): Slot[] {
  return [...workers, ...callers, operator].filter((slot) => slot.role === role);
}

/** Picks a process that is up. On Redis, at least one worker is left alone, so that calls go on. */
function aimAt({ stage, planned }: FaultRun, role: SlotRole): Slot | undefined {
  const up = slotsOf(stage, role).filter((slot) => slot.isReady);
  const spared = role === 'worker' && stage.store === 'redis' ? 1 : 0;
  return up.length > spared ? up[Math.floor(planned.aim * up.length)] : undefined;
}

function hit(run: FaultRun, slot: Slot): number {
  const pid = slot.pid!;
  Object.assign(run.record, { target: slot.name, pid });
  return pid;
}

const over = ({ record }: FaultRun): void => void (record.toMs = monotonicMs());

function killFault(role: SlotRole, weight: number): Fault {
  return {
    kind: `kill-${role}`,
    weight,
    about: `SIGKILL of a process (${role})`,
    async act(run) {
      const slot = aimAt(run, role);
      if (slot === undefined) return 'nobody';
      hit(run, slot);
      slot.signal('SIGKILL');
      over(run);
      return 'done';
    },
  };
}

function stopFault(role: SlotRole, weight: number): Fault {
  return {
    kind: `stop-${role}`,
    weight,
    about: `SIGSTOP for 1.5 to 3 leases, then SIGCONT (${role})`,
    async act(run) {
      const slot = aimAt(run, role);
      if (slot === undefined) return 'nobody';
      const pid = hit(run, slot);
      const forMs = Math.round(LEASE_MS * (1.5 + 1.5 * run.planned.force));
      run.record.detail = `${forMs} ms`;
      slot.signal('SIGSTOP');
      run.record.toMs = Infinity;
      run.later(
        pause(forMs).then(() => {
          if (slot.pid === pid) slot.signal('SIGCONT');
          over(run);
        }),
      );
      return 'done';
    },
  };
}

/** The process kills itself in the middle of its next settlement. In the owner of an embedded store, that is the middle of a commit. */
function killInSettle(role: SlotRole, weight: number): Fault {
  return {
    kind: role === 'owner' ? 'kill-in-commit' : 'kill-in-settle',
    weight,
    about: `the process (${role}) kills itself while a settlement is under way`,
    async act(run) {
      const slot = aimAt(run, role);
      if (slot === undefined) return 'nobody';
      hit(run, slot);
      slot.signal('SIGUSR2');
      over(run);
      return 'done';
    },
  };
}

function drainFault(role: SlotRole, weight: number): Fault {
  return {
    kind: `drain-${role}`,
    weight,
    about: `SIGTERM: an orderly restart (${role})`,
    async act(run) {
      const slot = aimAt(run, role);
      if (slot === undefined) return 'nobody';
      hit(run, slot);
      const ended = slot.ended();
      slot.signal('SIGTERM');
      run.record.toMs = Infinity;
      run.later(
        ended.then((exit) => {
          run.record.detail = `exit ${exit}`;
          over(run);
        }),
      );
      return 'done';
    },
  };
}

/** The embedded store uses the owner's clock. On Redis the clock of a process does not affect store time. */
function clockJump(weight: number): Fault {
  return {
    kind: 'clock-jump',
    weight,
    about: 'the wall clock of one process jumps, up to an hour; that of the embedded owner by seconds',
    async act(run) {
      const { stage, planned } = run;
      const slots = [...stage.workers, ...stage.callers];
      const slot = slots[Math.floor(planned.aim * slots.length)]!;
      const mostMs = slot.role === 'owner' ? 5000 : 3_600_000;
      const offsetMs = Math.round((planned.force * 2 - 1) * mostMs);
      Object.assign(run.record, { target: slot.name, detail: `${offsetMs} ms` });
      writeFileSync(stage.clockFile(slot.name), String(offsetMs));
      over(run);
      return 'done';
    },
  };
}

/** A short run has only the first of these faults, so those that need calls under way come first. */
export const FAULTS_ON_PROCESSES: readonly Fault[] = [
  stopAtSend(5, (run) => aimAt(run, 'worker')),
  killFault('caller', 2),
  killFault('worker', 3),
  stopFault('worker', 5),
  killInSettle('worker', 2),
  drainFault('worker', 2),
  killFault('operator', 1),
  clockJump(2),
];

export const FAULTS_ON_OWNER: readonly Fault[] = [
  killFault('owner', 3),
  stopFault('owner', 4),
  killInSettle('owner', 3),
  drainFault('owner', 2),
];
