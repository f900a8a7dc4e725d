import type { CallState } from '../../src/domain/call/call.ts';
import type { AskRequest } from '../../src/domain/ports/approval-store.ts';
import type { Effect } from '../../src/domain/tool/tool.ts';

/**
 * What a careful reader of the port expects of one subject's calls, without time, leases in milliseconds or bytes.
 * Every request has a list of allowed answers: mostly one, more where the port leaves the choice to the store.
 * Deliveries of a call are numbered from 1; `holder` is the number of the one that currently owns it.
 */
export interface ModelCall {
  readonly callId: string;
  readonly body: string;
  readonly effect: Effect;
  state: 'queued' | 'held' | 'running' | 'parked' | 'settled';
  deliveries: number;
  holder: number | undefined;
  starts: number;
  /** The delivery under which the last start mark was written. */
  markedBy: number | undefined;
  /** How each former delivery ended its ownership. If it repeats the request, it may get the same answer again. */
  endedBy: Map<number, PutAway | 'settled'>;
  cancelRequested: boolean;
  cancelledByStore: boolean;
  deniedByPerson: boolean;
  waiters: string[];
  outcomes: string[];
  /** Questions about the call; the latest is last. */
  approvals: ModelApproval[];
}

export interface ModelApproval {
  readonly id: string;
  readonly quorum: number;
  state: 'pending' | 'allowed' | 'denied' | 'cancelled';
  /** Principal and decision. */
  votes: [string, ModelDecision][];
}

export type ModelDecision = 'allow-once' | 'deny';

export interface Model {
  /** All calls by id, older generations of released keys included. */
  readonly calls: Map<string, ModelCall>;
  /** The call that a key currently stands for. */
  readonly current: Map<string, ModelCall>;
  readonly generations: Map<string, number>;
  /** The question that a delivery asked about its call, so that it can be repeated unchanged. */
  readonly asked: Map<string, AskRequest>;
}

export const MAX_ATTEMPTS = 3;
/** After a call was lost with two workers, no third worker gets it. */
const MAX_LOST_STARTS = 2;
export const RELEASING_OUTCOME = 'stale';

export function newModel(): Model {
  return { calls: new Map(), current: new Map(), generations: new Map(), asked: new Map() };
}

export function visibleStates(call: ModelCall): CallState[] {
  if (call.state !== 'held' && call.state !== 'queued') return [call.state];
  // The store may choose whether a call still shows the start mark of a former owner.
  return call.starts === 0 ? ['queued'] : ['queued', 'running'];
}

export interface Acceptance {
  readonly kind: 'accepted' | 'attached' | 'replayed' | 'conflict';
  readonly callId: string;
}

export function accept(
  model: Model,
  request: { key: string; baseId: string; body: string; effect: Effect; waiter: string },
): Acceptance {
  const known = model.current.get(request.key);
  if (known !== undefined) {
    if (known.body !== request.body) return { kind: 'conflict', callId: known.callId };
    if (known.state === 'settled') return { kind: 'replayed', callId: known.callId };
    known.waiters.push(request.waiter);
    return { kind: 'attached', callId: known.callId };
  }
  const generation = (model.generations.get(request.key) ?? 0) + 1;
  const callId = generation === 1 ? request.baseId : `${request.baseId}~${generation}`;
  const call: ModelCall = {
    callId,
    body: request.body,
    effect: request.effect,
    state: 'queued',
    deliveries: 0,
    holder: undefined,
    starts: 0,
    markedBy: undefined,
    endedBy: new Map(),
    cancelRequested: false,
    cancelledByStore: false,
    deniedByPerson: false,
    waiters: [request.waiter],
    outcomes: [],
    approvals: [],
  };
  model.generations.set(request.key, generation);
  model.current.set(request.key, call);
  model.calls.set(callId, call);
  return { kind: 'accepted', callId };
}

export function claimable(model: Model): ModelCall[] {
  return [...model.calls.values()].filter((call) => call.state === 'queued');
}

export function reclaimable(model: Model): ModelCall[] {
  return [...model.calls.values()].filter((call) => call.state === 'held' || call.state === 'running');
}

export function deliver(call: ModelCall): void {
  call.deliveries += 1;
  call.holder = call.deliveries;
  call.state = 'held';
}

const holds = (call: ModelCall, delivery: number): boolean => call.holder === delivery;

export function startAnswers(call: ModelCall, delivery: number): string[] {
  if (call.cancelledByStore) return ['fenced', 'cancelled'];
  if (!holds(call, delivery)) return ['fenced'];
  const { starts, effect, cancelRequested } = call;
  if (call.markedBy === delivery) return cancelRequested ? [`started ${starts}`, 'cancelled'] : [`started ${starts}`];
  const usedUp = starts >= Math.min(MAX_ATTEMPTS, MAX_LOST_STARTS);
  const refusals = effect === 'unsafe' && starts > 0 ? ['may-have-run'] : usedUp ? [`used-up ${starts}`] : [];
  if (cancelRequested) return ['cancelled', ...refusals];
  return refusals.length > 0 ? refusals : [`started ${starts + 1}`];
}

export function applyStart(call: ModelCall, delivery: number, answer: string): void {
  if (!answer.startsWith('started') || call.markedBy === delivery) return;
  call.starts += 1;
  call.markedBy = delivery;
  call.state = 'running';
}

export function renewAnswers(call: ModelCall, delivery: number): string[] {
  if (call.cancelledByStore) return ['fenced', 'cancel'];
  if (!holds(call, delivery)) return ['fenced'];
  return [call.cancelRequested ? 'cancel' : 'renewed'];
}

export function settleAnswers(call: ModelCall, delivery: number, outcome: string): string[] {
  if (holds(call, delivery)) return ['settled'];
  const repeated = call.endedBy.get(delivery) === 'settled' && call.outcomes.includes(outcome);
  return [repeated ? 'settled' : 'fenced'];
}

export function applySettle(model: Model, call: ModelCall, delivery: number, outcome: string): void {
  if (!holds(call, delivery)) return;
  call.endedBy.set(delivery, 'settled');
  end(call, [outcome]);
  if (outcome !== RELEASING_OUTCOME) return;
  for (const [key, current] of model.current) if (current === call) model.current.delete(key);
}

export type PutAway = 'asked' | 'abandoned';

export function putAwayAnswers(call: ModelCall, delivery: number, how: PutAway): string[] {
  if (holds(call, delivery)) return [how];
  return call.endedBy.get(delivery) === how ? [how, 'fenced'] : ['fenced'];
}

export function applyPutAway(call: ModelCall, delivery: number, how: PutAway): void {
  if (!holds(call, delivery)) return;
  // The lease that started the call gave it back in good order, so the start does not count. An unsafe tool may have had an effect, so
  // there it counts.
  if (how === 'abandoned' && call.markedBy === delivery && call.effect !== 'unsafe') call.starts -= 1;
  call.state = how === 'asked' ? 'parked' : 'queued';
  call.holder = undefined;
  call.endedBy.set(delivery, how);
}

export function applyAsk(call: ModelCall, delivery: number, id: string, quorum: number): void {
  if (!holds(call, delivery)) return;
  applyPutAway(call, delivery, 'asked');
  call.approvals.push({ id, quorum, state: 'pending', votes: [] });
}

export const DENIED_OUTCOME = 'denied';

/** The first deny ends the question. An allow counts once per principal, and the last one needed queues the call again. */
export function decide(
  call: ModelCall,
  approval: ModelApproval,
  principal: string,
  decision: ModelDecision,
): { kind: string; state?: string; missing?: number } {
  const own = approval.votes.filter(([by]) => by === principal).map(([, said]) => said);
  if (approval.state !== 'pending') {
    const agrees = approval.state === (decision === 'deny' ? 'denied' : 'allowed') && own.includes(decision);
    return { kind: agrees ? 'decided' : 'already-decided', state: approval.state };
  }
  if (own.includes(decision)) return { kind: 'counted', missing: approval.quorum - approval.votes.length };
  approval.votes.push([principal, decision]);
  if (decision === 'deny') {
    approval.state = 'denied';
    call.deniedByPerson = true;
    end(call, [DENIED_OUTCOME]);
    return { kind: 'decided', state: 'denied' };
  }
  const missing = approval.quorum - approval.votes.length;
  if (missing > 0) return { kind: 'counted', missing };
  approval.state = 'allowed';
  call.state = 'queued';
  return { kind: 'decided', state: 'allowed' };
}

export function cancelAnswers(call: ModelCall): string[] {
  switch (call.state) {
    case 'settled':
      return call.cancelledByStore ? ['settled', 'cancelled'] : ['settled'];
    case 'running':
      return ['cancelling'];
    case 'parked':
      return ['cancelled'];
    default:
      // If a former owner left a start mark, the store may leave the end of the call to the next owner.
      return call.starts === 0 ? ['cancelled'] : ['cancelled', 'cancelling'];
  }
}

export function applyCancel(call: ModelCall, answer: string): void {
  if (call.state === 'settled') return;
  if (answer === 'cancelling') {
    call.cancelRequested = true;
    return;
  }
  const held = call.state === 'held';
  const heldOutcome = 'cancelled, may be running';
  const plainOutcome = call.state === 'parked' ? 'cancelled, while a person was asked' : 'cancelled, nothing ran';
  call.cancelledByStore = true;
  const last = call.approvals.at(-1);
  if (last?.state === 'pending') last.state = 'cancelled';
  end(call, call.starts > 0 ? [heldOutcome, plainOutcome] : [held ? heldOutcome : plainOutcome]);
}

export const SESSION_ENDED_OUTCOME = 'denied, the session ended';
export const MAY_HAVE_RUN_OUTCOME = 'may have run';
export const TIMED_OUT_OUTCOME = 'timed out';

/** A parked call whose session is over ends at the next reap, and its question with it. */
export function reapParked(call: ModelCall): void {
  const last = call.approvals.at(-1);
  if (last?.state === 'pending') last.state = 'cancelled';
  const mayHaveRun = call.effect === 'unsafe' ? MAY_HAVE_RUN_OUTCOME : TIMED_OUT_OUTCOME;
  end(call, [call.starts > 0 ? mayHaveRun : SESSION_ENDED_OUTCOME]);
}

function end(call: ModelCall, outcomes: string[]): void {
  call.state = 'settled';
  call.holder = undefined;
  call.outcomes = outcomes;
}
