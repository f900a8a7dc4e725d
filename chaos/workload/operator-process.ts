// The operator: answers questions, revokes sessions, opens and closes a tool. CHAOS_OPERATOR holds its setting as JSON. Its only memory is
// its journal, so a successor continues where it was killed. On SIGTERM it opens the tool for good and ends.
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { connect, PlaneError, type Approval, type ConnectOptions, type SessionHandle } from 'sallyport/client';
import { openStore } from 'sallyport/testing';
import type { OperatorEntry } from './answers.ts';
import { openJournal, readJournal } from './journal.ts';
import { monotonicMs } from './monotonic.ts';
import { chaosPolicy, type Gate } from './policy.ts';
import type { PlannedSession } from './plan.ts';

export interface OperatorSetting {
  readonly store: ConnectOptions;
  readonly startAtMs: number;
  readonly sessions: string;
  readonly planned: readonly PlannedSession[];
  readonly journal: string;
}

const ROUND_MS = 80;
const OPEN_FOR_MS = 1000;
/** Longer than the slack of the checks. Otherwise no start in that time could count as late. */
const CLOSED_FOR_MS = 2500;
const setting = JSON.parse(process.env['CHAOS_OPERATOR']!) as OperatorSetting;
const sessions = JSON.parse(readFileSync(setting.sessions, 'utf8')) as SessionHandle[];
const note = openJournal<OperatorEntry>(setting.journal);
const revoked = new Set(
  readJournal<OperatorEntry>(setting.journal).flatMap((entry) => (entry.what === 'revoked' ? [entry.session] : [])),
);
const client = await connect(setting.store);
const store = await openStore(setting.store);
const answered = new Set<string>();
let stopping = false;
let closed = true;
let closings = 0;
let toggleAtMs = monotonicMs() + OPEN_FOR_MS;

const isAway = (error: unknown): boolean => error instanceof PlaneError && error.code.startsWith('STORE_');

async function decide(approval: Approval, decision: 'allow-once' | 'deny', name: string): Promise<void> {
  const { id, callId, binding } = approval.question;
  const askedAtMs = monotonicMs();
  const answer = await client.approvals.decide({ kind: 'operator', name }, id, { decision, binding });
  note({ what: 'decided', askedAtMs, approval: id, callId, decision, answer: answer.kind });
}

async function answerOne(approval: Approval): Promise<void> {
  const { fate } = JSON.parse(approval.question.arguments) as { fate?: string };
  answered.add(approval.question.id);
  try {
    if (fate === 'allow') await decide(approval, 'allow-once', 'anna');
    else if (fate === 'deny') await decide(approval, 'deny', 'anna');
    else if (fate === 'race')
      await Promise.all([decide(approval, 'allow-once', 'anna'), decide(approval, 'deny', 'bert')]);
  } catch (error) {
    if (isAway(error)) answered.delete(approval.question.id);
    else if (!(error instanceof PlaneError) || error.code !== 'APPROVAL_UNKNOWN') throw error;
  }
}

async function answerAll(): Promise<void> {
  const pending = await client.approvals.list({ kind: 'operator', name: 'anna' }, { state: 'pending', limit: 500 });
  await Promise.all(pending.filter(({ question }) => !answered.has(question.id)).map(answerOne));
}

async function revokeDue(): Promise<void> {
  for (const [index, { revokeAtMs }] of setting.planned.entries()) {
    const isDue = revokeAtMs !== undefined && setting.startAtMs + revokeAtMs <= monotonicMs();
    if (!isDue || revoked.has(index)) continue;
    const askedAtMs = monotonicMs();
    const answer = await client.revokeSession(sessions[index]!.id);
    revoked.add(index);
    note({ what: 'revoked', askedAtMs, session: index, answer });
  }
}

async function setGate(toClosed: boolean): Promise<void> {
  note({ what: 'policy-asked', closed: toClosed });
  const { version } = await store.readPolicy();
  const closing: Gate = closings % 2 === 0 ? 'denied' : 'paused';
  const policy = chaosPolicy(toClosed ? closing : 'open');
  const written = await store.writePolicy({ expectedVersion: version, policy });
  if (written.kind !== 'written') return;
  if (toClosed) closings += 1;
  closed = toClosed;
  note({ what: 'policy', closed });
}

async function round(): Promise<void> {
  await Promise.all([answerAll(), revokeDue()]);
  if (monotonicMs() < toggleAtMs) return;
  toggleAtMs = monotonicMs() + (closed ? OPEN_FOR_MS : CLOSED_FOR_MS);
  await setGate(!closed);
}

async function insist(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isAway(error)) throw error;
  }
}

process.on('SIGTERM', () => (stopping = true));
note({ what: 'began', pid: process.pid });
console.log('ready');
while (!stopping) {
  await insist(round);
  await pause(ROUND_MS);
}
while (closed) await insist(() => setGate(false));
await Promise.all([client.close(), store.close()]);
console.log('done');
process.exit(0);
