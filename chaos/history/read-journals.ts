import { callIdFor } from 'sallyport/testing';
import type { SessionHandle } from 'sallyport/client';
import type { Stage } from '../stage/stage.ts';
import type { CallerEntry, OperatorEntry } from '../workload/answers.ts';
import { readJournal, type Timed } from '../workload/journal.ts';
import type { Plan } from '../workload/plan.ts';
import { digestOf } from '../workload/tools.ts';
import type {
  GateWindow,
  History,
  Revocation,
  SeenAnswer,
  SeenCancel,
  SeenDecision,
  SubmittedCall,
} from './history.ts';

type FromCallers = Pick<History, 'answers' | 'cancels' | 'calls'>;
type FromOperator = Pick<History, 'decisions' | 'gates' | 'revocations'>;

export function readCallers(stage: Stage, plan: Plan): FromCallers {
  const answers: SeenAnswer[] = [];
  const cancels: SeenCancel[] = [];
  const submittedAt = new Map<number, number>();
  for (let caller = 0; caller < plan.callers; caller += 1) {
    const again = new Set<number>();
    for (const entry of readJournal<CallerEntry>(stage.files.caller(caller))) {
      if (entry.what === 'submitted') {
        if (entry.again) again.add(entry.index);
        if (!submittedAt.has(entry.index)) submittedAt.set(entry.index, entry.atMs);
      }
      if (entry.what === 'answered') answers.push({ ...entry, again: again.has(entry.index) });
      if (entry.what === 'cancelled') cancels.push(entry);
    }
  }
  const calls = plan.calls.map((call) => toSubmitted(call, stage.sessions[call.session]!, plan, submittedAt));
  return { answers, cancels, calls };
}

/** Number of calls that have their final answer. */
export function countAnswered(stage: Stage, plan: Plan): number {
  let count = 0;
  for (let caller = 0; caller < plan.callers; caller += 1) {
    const entries = readJournal<CallerEntry>(stage.files.caller(caller));
    count += entries.filter((entry) => entry.what === 'answered' && entry.kind !== 'pending').length;
  }
  return count;
}

function toSubmitted(
  call: Plan['calls'][number],
  session: SessionHandle,
  plan: Plan,
  submittedAt: ReadonlyMap<number, number>,
): SubmittedCall {
  const at = submittedAt.get(call.index);
  return {
    ...call,
    callId: callIdFor(session.id, call.key)!,
    sessionId: session.id,
    subject: plan.sessions[call.session]!.subject,
    argsDigest: digestOf(call.args),
    ...(at === undefined ? {} : { submittedAtMs: at }),
  };
}

export function readOperator(stage: Stage): FromOperator {
  const entries = readJournal<OperatorEntry>(stage.files.operator);
  const revocations: Revocation[] = [];
  const decisions: SeenDecision[] = [];
  for (const entry of entries) {
    if (entry.what === 'revoked') {
      const { askedAtMs, atMs } = entry;
      revocations.push({ sessionId: stage.sessions[entry.session]!.id, askedAtMs, atMs });
    }
    if (entry.what === 'decided') decisions.push(entry);
  }
  return { revocations, decisions, gates: closedWindows(entries) };
}

/** The tool is certainly closed from the answer to a closing until the next change of the policy is requested. */
function closedWindows(entries: readonly Timed<OperatorEntry>[]): GateWindow[] {
  const windows: GateWindow[] = [];
  let closedAt: number | undefined;
  for (const entry of entries) {
    if (entry.what === 'policy') closedAt = entry.closed ? entry.atMs : undefined;
    if (entry.what === 'policy-asked' && closedAt !== undefined) {
      windows.push({ fromMs: closedAt, toMs: entry.atMs });
      closedAt = undefined;
    }
  }
  return windows;
}
