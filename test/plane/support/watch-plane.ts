import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAboutCall, type AboutCall } from '../../../src/domain/audit/audit-record.ts';
import type { CallOptions, Client, Outcome, SessionHandle } from '../../../src/exports/client.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import type { AuditEntry } from '../../../src/domain/ports/audit-store.ts';
import { readAuditDetail } from '../../../src/domain/audit/audit-detail.ts';
import { randomId } from '../../../src/domain/identity/new-id.ts';
import { eventually } from '../../support/process.ts';
import { PATIENCE_MS } from '../../support/watched-process.ts';
import { outcomeOf, type PlaneWorker, type StagedPlane } from './stage-plane.ts';

/** One line that a tool of `scenario` wrote: S entered, E ended, A aborted, N its nested call was answered. */
export interface Mark {
  readonly letter: string;
  readonly label: string;
  readonly callId: string;
  readonly fence: number;
  readonly pid: number;
}

/** All marks, or those of one letter, or those of one letter and label. */
export function marksOf(plane: StagedPlane, letter?: string, label?: string): Mark[] {
  return plane
    .effects()
    .map((line) => line.split(' '))
    .map(([mark, name, callId, fence, pid]) => ({
      letter: mark!,
      label: name!,
      callId: callId!,
      fence: Number(fence),
      pid: Number(pid),
    }))
    .filter((mark) => (letter ?? mark.letter) === mark.letter && (label ?? mark.label) === mark.label);
}

/**
 * Waits until a worker that was started with `stall` has stopped behind this method. The line alone is not enough: the process prints it
 * before it stops, and a SIGCONT that comes first is lost.
 */
export async function untilStalled({ process: worker }: PlaneWorker, method: string): Promise<void> {
  await worker.waitForLine(new RegExp(`stalled ${method}`));
  await eventually(() => readFileSync(`/proc/${worker.pid}/stat`, 'utf8').includes(') T '), {
    what: `the worker to stop behind ${method}`,
  });
}

export function untilMarks(plane: StagedPlane, letter: string, label: string | undefined, count = 1): Promise<Mark[]> {
  return eventually(
    () => {
      const marks = marksOf(plane, letter, label);
      return marks.length >= count ? marks : undefined;
    },
    { what: `${count} marks ${letter} ${label ?? ''}` },
  );
}

/** The arguments of a run that is held; `release` writes the file that lets it end. */
export interface HeldRun {
  readonly label: string;
  readonly args: JsonObject;
  release(): void;
}

const heldRuns = new Set<HeldRun>();

export function holdRun(plane: StagedPlane, label: string, more: JsonObject = {}): HeldRun {
  const until = join(plane.folder, `${label}-${randomId()}.go`);
  const run: HeldRun = {
    label,
    args: { file: plane.effectFile, label, until, ...more },
    release() {
      heldRuns.delete(run);
      writeFileSync(until, '');
    },
  };
  heldRuns.add(run);
  return run;
}

/** For the time after a test that failed half-way: the runs that it still holds must not block the next test. */
export function releaseRuns(): void {
  for (const run of heldRuns) run.release();
}

/** Arguments of a run that ends at once. */
export function runOnce(plane: StagedPlane, label: string): JsonObject {
  return { file: plane.effectFile, label };
}

/** Makes a call and waits for its outcome, however long recovery takes. */
export function callFor(
  plane: StagedPlane,
  session: SessionHandle,
  tool: string,
  args: JsonObject,
  options: CallOptions & { client?: Client } = {},
): Promise<Outcome> {
  const { client = plane.client, ...rest } = options;
  const calling = client
    .call(session, tool, args, { waitMs: PATIENCE_MS, deadlineMs: 2 * PATIENCE_MS, ...rest })
    .then((answer) => outcomeOf(plane, session, answer));
  // If the test fails before it awaits the outcome, this rejection must not be reported in addition.
  calling.catch(() => undefined);
  return calling;
}

/** Audit records of calls, without those of sessions and administration. */
export async function audit(plane: StagedPlane): Promise<AboutCall<AuditEntry>[]> {
  return (await plane.store.readAudit({ lane: 0, fromSequence: 1, limit: 100_000 })).filter(isAboutCall);
}

const TERMINAL: readonly string[] = ['call.settled', 'call.cancelled', 'call.expired'];

/** How calls ended according to the audit; all calls, or one. */
export async function endingsOf(
  plane: StagedPlane,
  callId?: string,
): Promise<{ callId: string; tool: string; outcome: string | undefined; code: string | undefined }[]> {
  const entries = (await audit(plane)).filter(({ event }) => TERMINAL.includes(event));
  return entries
    .filter((entry) => (callId ?? entry.callId) === entry.callId)
    .map((entry) => {
      const { outcome, code } = readAuditDetail(entry.detail).facts;
      return { callId: entry.callId, tool: entry.tool, outcome, code };
    });
}

/** Waits until the store's clock has moved on by `laterMs`. Leases and deadlines use only that clock. */
export async function untilStoreTime(plane: StagedPlane, laterMs: number): Promise<void> {
  const from = await plane.store.now();
  await eventually(async () => (await plane.store.now()) >= from + laterMs, {
    timeoutMs: laterMs + PATIENCE_MS,
    everyMs: 50,
    what: `${laterMs} ms of store time`,
  });
}

/** Waits until a worker is registered in the fleet as draining. */
export async function untilDraining(plane: StagedPlane, workerId: string): Promise<void> {
  await eventually(
    async () =>
      (await plane.store.listWorkers()).some((worker) => worker.workerId === workerId && worker.state === 'draining'),
    { what: `worker ${workerId} to drain` },
  );
}

/** The number of queued calls, and of calls that a worker holds. */
export async function queueCounts(plane: StagedPlane): Promise<{ queued: number; leased: number }> {
  const states = await plane.store.queueState();
  return {
    queued: states.reduce((sum, state) => sum + state.queued, 0),
    leased: states.reduce((sum, state) => sum + state.leased, 0),
  };
}

/** Waits until workers hold exactly this many calls. */
export async function untilLeased(plane: StagedPlane, count: number): Promise<void> {
  await eventually(async () => (await queueCounts(plane)).leased === count, { what: `${count} leased calls` });
}
