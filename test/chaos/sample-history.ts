import type { History, SeenAnswer, SeenAudit, SeenRecord, SubmittedCall } from '../../chaos/history/history.ts';
import type { EffectLine } from '../../chaos/workload/effect-log.ts';
import type { CallFate } from '../../chaos/workload/plan.ts';
import type { ToolName } from '../../chaos/workload/tools.ts';

/** A mutable history, so that a test can plant a violation in it. */
export type Draft = {
  -readonly [Name in keyof History]: History[Name] extends readonly (infer Item)[]
    ? Changeable<Item>[]
    : History[Name] extends ReadonlyMap<string, infer Value>
      ? Map<string, Changeable<Value>>
      : Changeable<History[Name]>;
};
type Changeable<Item> = Item extends object ? { -readonly [Name in keyof Item]: Item[Name] } : Item;

interface Wish {
  readonly key: string;
  readonly tool: ToolName;
  readonly fate?: CallFate;
  readonly kind?: string;
  readonly executed?: string;
  readonly code?: string;
  readonly starts?: number;
  readonly again?: boolean;
  readonly args?: object;
}

export const idOf = (key: string): string => `0.scope.${key}`;

/** A history with calls of every kind, without a violation. */
export function goodHistory(): Draft {
  const draft = emptyHistory();
  add(draft, { key: 'read', tool: 'read' });
  add(draft, { key: 'send', tool: 'send', again: true });
  add(draft, { key: 'lineA', tool: 'line' });
  add(draft, { key: 'lineB', tool: 'line' });
  add(draft, { key: 'turn', tool: 'turn', starts: 2 });
  add(draft, { key: 'lost', tool: 'slowSend', kind: 'indeterminate', executed: 'unknown' });
  add(draft, { key: 'allowed', tool: 'asked', fate: 'approved', args: { fate: 'allow' } });
  add(draft, { key: 'denied', tool: 'asked', fate: 'refused-by-people', kind: 'denied', executed: 'no', starts: 0 });
  add(draft, { key: 'gated', tool: 'gated', fate: 'gated', kind: 'denied', executed: 'no', starts: 0 });
  add(draft, { key: 'cancel', tool: 'send', fate: 'cancelled', kind: 'cancelled', executed: 'no', starts: 0 });
  add(draft, { key: 'revoked', tool: 'send', fate: 'revoked', kind: 'denied', executed: 'no', starts: 0 });
  add(draft, { key: 'poison', tool: 'poison', fate: 'poison', kind: 'crashed', executed: 'unknown', starts: 3 });
  add(draft, { key: 'twice', tool: 'send', fate: 'duplicate' });
  attach(draft, 'twice');
  decide(draft, 'allowed', 'allow-once');
  decide(draft, 'denied', 'deny');
  draft.cancels.push({ index: indexOf(draft, 'cancel'), callId: idOf('cancel'), atMs: 900, answer: 'cancelled' });
  draft.revocations.push({ sessionId: 'session-revoked', askedAtMs: 90, atMs: 100 });
  draft.gates.push({ fromMs: 0, toMs: 100_000 });
  draft.faults.push({
    number: 0,
    kind: 'drain-worker',
    target: 'worker0',
    pid: 7,
    fromMs: 1,
    toMs: 2,
    detail: 'exit 0',
  });
  draft.chain = { records: draft.audit.length };
  return draft;
}

function emptyHistory(): Draft {
  return {
    store: 'redis',
    leaseMs: 1000,
    calls: [],
    effects: [],
    answers: [],
    cancels: [],
    revocations: [],
    gates: [],
    decisions: [],
    faults: [],
    away: [],
    stalls: [],
    hooks: [],
    records: new Map(),
    audit: [],
    chain: { records: 0 },
    leftovers: { places: 5, found: [] },
    troubles: [],
    unfinished: [],
    jumpedMs: 0,
  };
}

function indexOf(draft: Draft, key: string): number {
  return draft.calls.findIndex((call) => call.key === key);
}

/** Adds a call: submitted, run `starts` times, settled, answered. Times grow from call to call. */
function add(draft: Draft, wish: Wish): void {
  const { key, tool, fate = 'plain', kind = 'ok', executed = 'yes', starts = 1, again = false, args = {} } = wish;
  const index = draft.calls.length;
  const atMs = 1000 + index * 100;
  const callId = idOf(key);
  const argsDigest = `args-${key}`;
  const session = fate === 'revoked' ? 'session-revoked' : 'session';
  const call: SubmittedCall = {
    index,
    fate,
    caller: 0,
    session: 0,
    tool,
    key,
    args: { key, ms: 0, ...args },
    submitAtMs: atMs,
    deadlineMs: 60_000,
    waitMs: 1000,
    callId,
    sessionId: session,
    subject: 's0',
    argsDigest,
    submittedAtMs: atMs,
  };
  draft.calls.push(call);
  for (let fence = 1; fence <= starts; fence += 1) {
    const line = { callId, fence, pid: fence, tool, subject: 's0', argsDigest };
    draft.effects.push({ ...line, mark: 'S', atMs: atMs + fence * 10 } as EffectLine);
    if (fence === starts && kind === 'ok') draft.effects.push({ ...line, mark: 'E', atMs: atMs + fence * 10 + 5 });
  }
  const echo = { key, callId, fence: starts, subject: 's0' };
  const outcome = { kind, executed, digest: `outcome-${key}`, ...(kind === 'ok' ? { echo } : {}) };
  const record: SeenRecord = {
    callId,
    state: 'settled',
    tool: `chaos.${tool}`,
    session,
    acceptedAt: atMs,
    deadline: atMs + 60_000,
    settledAt: atMs + 80,
    starts,
    outcome,
  };
  draft.records.set(callId, record);
  if (tool === 'asked') append(draft, { event: 'approval.requested', callId, approval: `approval-${key}` });
  append(draft, { event: 'call.settled', callId, outcome: kind });
  const auditSequence = draft.audit.length;
  draft.answers.push({ index, atMs: atMs + 90, kind: 'settled', by: 'key', callId, outcome, auditSequence, again });
}

function append(draft: Draft, record: Omit<SeenAudit, 'lane' | 'sequence' | 'at'>): void {
  draft.audit.push({ lane: 0, sequence: draft.audit.length + 1, at: 0, ...record });
}

/** Adds another caller's submission of the same call, under the same key. */
function attach(draft: Draft, key: string): void {
  const first = draft.calls[indexOf(draft, key)]!;
  const answer = draft.answers.find(({ index }) => index === first.index)!;
  const index = draft.calls.length;
  draft.calls.push({ ...first, index, caller: 1 });
  draft.answers.push({ ...(answer as SeenAnswer), index });
}

function decide(draft: Draft, key: string, decision: string): void {
  const approval = `approval-${key}`;
  const callId = idOf(key);
  append(draft, { event: 'approval.decided', callId, approval, decision });
  draft.decisions.push({ approval, callId, decision, answer: 'decided', askedAtMs: 10, atMs: 20 });
}
