import { LIMITS } from '../../../domain/call/call.ts';
import { parseScopedId } from '../../../domain/identity/ids.ts';
import type { AcceptAnswer, AcceptRequest, CallProof } from '../../../domain/ports/call-requests.ts';
import type { SessionEnding } from '../../../domain/identity/session.ts';
import type { CallRow, SessionRow } from '../rows.ts';
import { callIdOfAgents } from '../../../domain/identity/new-id.ts';
import { poolTopic, type Transaction } from '../transaction.ts';
import { checkAdmission, overloaded, SOON_MS } from './check-admission.ts';
import { isSameAgent, tagOf } from './agents.ts';
import { countAttempt } from './attempts.ts';
import { findOutcome, fitsRow, keepBodyApart } from './call-bytes.ts';
import { CALL_COLUMNS, callIdOf, changeCall, decodeWaiters, encodeWaiters, findOwnedCall } from './call-row.ts';
import { hasRoom, slotName } from './queue.ts';
import { expiryOf, findLoopEnd, findSession, isTokenOf, markSeen, sessionEnding } from './session-row.ts';

const UNKNOWN_SESSION: AcceptAnswer = { kind: 'unauthenticated', ending: 'unknown' };

/** Accepts a call. Checks the caller, then the key, then the limits; only after that the first write happens. */
export function acceptCall(transaction: Transaction, request: AcceptRequest): AcceptAnswer {
  const session = findSession(transaction, request.session);
  const ending = checkCaller(transaction, session, request);
  if (session === undefined) return { kind: 'unauthenticated', ending: 'unknown' };
  if (ending !== undefined && ending !== 'run-ended') return { kind: 'unauthenticated', ending };

  const callId = callIdOfAgents(tagOf(session.identity), request.callId);
  const last = findLastGeneration(transaction, callId);
  // The tag in a call's id is a short digest, so two different lists of agents can have the same tag. If the call belongs to other agents,
  // it must not be shown.
  if (last !== undefined && !isSameAgent(last.identity, session.identity)) return UNKNOWN_SESSION;
  const known = holdsKey(last) ? last : findOfEarlierRelease(transaction, session, request.callId, callId);
  if (known !== undefined) return joinCall(transaction, session, known, request);
  if (ending === 'run-ended') return refuseEndedRun(transaction, session, request.run);

  const slot = findPlace(transaction, session, request);
  const overload = checkAdmission(transaction, request, slot, session.scope);
  if (overload !== undefined) return overload;
  markSeen(transaction, session);
  const own = callId === request.callId ? request : { ...request, callId };
  const call = newCall(transaction, session, own, slot, (last?.generation ?? 0) + 1);
  writeCall(transaction, session, request, call);
  return { kind: 'accepted', callId: callIdOf(call) };
}

function checkCaller(
  transaction: Transaction,
  session: SessionRow | undefined,
  request: AcceptRequest,
): SessionEnding | undefined {
  if (session === undefined || !isProven(transaction, session, request.proof)) return 'unknown';
  const ending = sessionEnding(transaction, session, request.run);
  if (ending !== undefined && ending !== 'run-ended') return ending;
  // Attack: the key of another subject's call. Without this check, a caller could attach to any call whose id it knows.
  const asked = parseScopedId(request.callId);
  const own = parseScopedId(request.session);
  const inScope = asked !== undefined && asked.scope === own?.scope && asked.lane === own.lane;
  return inScope && !request.callId.includes('~') ? ending : 'unknown';
}

/**
 * Refuses a call of a run that loop detection ended. Writes nothing, so refused calls neither extend the time for which the conversation
 * gets no new run nor fill the store.
 */
function refuseEndedRun({ now }: Transaction, session: SessionRow, run: string): AcceptAnswer {
  return { kind: 'run-ended', restMs: Math.max(0, (findLoopEnd(session, run) ?? now) - now) };
}

function isProven(transaction: Transaction, session: SessionRow, proof: CallProof): boolean {
  if (proof.kind === 'token') return isTokenOf(session, proof.tokenDigest);
  // A worker proves a nested call by its lease of the parent call, and only for the session of that parent call.
  return findOwnedCall(transaction, proof.owned)?.session === session.id;
}

/**
 * Returns the last call under a key. Earlier generations released the key; the highest one decides, even if retention has deleted those before it.
 */
function findLastGeneration({ database }: Transaction, keyId: string): CallRow | undefined {
  return database.get<CallRow>(
    `SELECT ${CALL_COLUMNS} FROM call WHERE keyId = ? ORDER BY generation DESC LIMIT 1`,
    keyId,
  );
}

function holdsKey(call: CallRow | undefined): call is CallRow {
  return call !== undefined && !(call.state === 'settled' && call.releaseKey === 1);
}

/**
 * Earlier releases stored a key per subject, not per agent. Such a call is found only by the agents that made it. For all other agents it
 * does not exist, so that neither a replay nor a conflict reveals that the key is in use.
 */
function findOfEarlierRelease(
  transaction: Transaction,
  session: SessionRow,
  asked: string,
  callId: string,
): CallRow | undefined {
  const found = asked === callId ? undefined : findLastGeneration(transaction, asked);
  return holdsKey(found) && isSameAgent(found.identity, session.identity) ? found : undefined;
}

/** The key is used again: the answer is a replay, one more waiter, or a conflict. */
function joinCall(
  transaction: Transaction,
  session: SessionRow,
  call: CallRow,
  { bodyDigest, waiter }: AcceptRequest,
): AcceptAnswer {
  const callId = callIdOf(call);
  if (call.bodyDigest !== bodyDigest) return { kind: 'conflict', callId };
  const { database } = transaction;
  markSeen(transaction, session);
  if (call.state === 'settled') {
    const outcome = findOutcome(database, call.seq);
    if (outcome === undefined) throw new Error(`the outcome of ${callId} is missing`);
    return { kind: 'replayed', callId, outcome };
  }
  const waiters = decodeWaiters(call.waiters);
  const known = waiters.some(
    (other) => other.callerId === waiter?.callerId && other.correlationId === waiter.correlationId,
  );
  if (waiter !== undefined && !known && waiters.length >= LIMITS.waitersPerCall) {
    return overloaded('waiters of this call', SOON_MS);
  }
  if (waiter !== undefined && !known) {
    changeCall(transaction, call, 'waiters = ?', encodeWaiters([...waiters, waiter]));
  }
  return { kind: 'attached', callId, state: call.state };
}

interface Place {
  /** Null for a nested call: its running parent has a place in the window, and the nested call could wait for that place for ever. */
  readonly slot: string | null;
  readonly window: number;
  readonly inQueue: boolean;
}

function findPlace(transaction: Transaction, session: SessionRow, request: AcceptRequest): Place {
  const { serial, tool, pool, admission } = request;
  if (request.proof.kind === 'parent' && !serial) return { slot: null, window: 0, inQueue: true };
  const slot = slotName({ serial, scope: session.scope, tool, pool });
  const window = serial ? 1 : admission.subjectWindow;
  return { slot, window, inQueue: hasRoom(transaction, slot, window) };
}

const INSERT_CALL = `INSERT INTO call (state, scope, keyId, generation, session, run, tool, pool, bodyDigest, identity, epoch,
    sessionExpiresAt, acceptedAt, deadline, bytes, waiters, serial, slot, slotWindow, holdsSlot, entryId, sequence, toolSequence, envelope)
  VALUES ('queued', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

function writeCall(transaction: Transaction, session: SessionRow, request: AcceptRequest, call: CallRow): void {
  const { database, lane, rows } = transaction;
  call.seq = database.insert(
    INSERT_CALL,
    session.scope,
    call.keyId,
    call.generation,
    call.session,
    call.run,
    call.tool,
    call.pool,
    call.bodyDigest,
    call.identity,
    call.epoch,
    call.sessionExpiresAt,
    call.acceptedAt,
    call.deadline,
    call.bytes,
    call.waiters,
    call.serial,
    call.slot,
    call.slotWindow,
    call.holdsSlot,
    call.entryId,
    call.sequence,
    call.toolSequence,
    call.envelope ?? null,
  );
  if (!fitsRow(request.envelope)) keepBodyApart(database, call.seq, request.envelope);
  rows.keepCall(callIdOf(call), call);
  lane.liveCalls += 1;
  lane.liveBytes += call.bytes;
  lane.subjects.change(session.scope, { liveBytes: call.bytes });
  if (call.slot !== null) lane.changeSlot(call.slot, call.holdsSlot === 1 ? { standing: 1 } : { backlog: 1 });
  if (call.entryId !== null) transaction.wake(poolTopic(call.pool));
}

/** Written as one object literal and not merged from parts: the engine creates objects that all have the same shape much faster. */
function newCall(
  transaction: Transaction,
  session: SessionRow,
  request: AcceptRequest,
  place: Place,
  generation: number,
): CallRow {
  const { lane, now } = transaction;
  const { sequence, toolSequence } = countAttempt(transaction, request);
  return {
    seq: 0,
    keyId: request.callId,
    generation,
    state: 'queued',
    session: session.id,
    run: request.run,
    tool: request.tool,
    pool: request.pool,
    bodyDigest: request.bodyDigest,
    identity: session.identity,
    epoch: lane.epoch,
    sessionExpiresAt: expiryOf(session, now),
    acceptedAt: now,
    deadline: now + Math.ceil(request.deadlineMs),
    bytes: request.envelope.byteLength,
    waiters: encodeWaiters(request.waiter === undefined ? [] : [request.waiter]),
    serial: request.serial ? 1 : 0,
    slot: place.slot,
    slotWindow: place.window,
    holdsSlot: place.inQueue ? 1 : 0,
    entryId: place.inQueue ? lane.nextEntryId() : null,
    owner: null,
    base: 0,
    deliveries: 0,
    starts: 0,
    startFence: null,
    effect: null,
    cancelRequested: 0,
    handedBack: 0,
    settledAt: null,
    releaseKey: 0,
    resolution: null,
    abandonedFence: null,
    sequence,
    toolSequence,
    approval: null,
    grantId: null,
    envelope: fitsRow(request.envelope) ? request.envelope : null,
  };
}
