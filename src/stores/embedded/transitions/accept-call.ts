import { LIMITS } from '../../../domain/call.ts';
import { parseScopedId } from '../../../domain/ids.ts';
import type { AcceptAnswer, AcceptRequest, CallProof } from '../../../ports/call-store.ts';
import type { SessionEnding } from '../../../domain/session.ts';
import { poolTopic, type Transaction } from '../transaction.ts';
import { checkAdmission } from './check-admission.ts';
import { CALL_COLUMNS, callIdOf, decodeWaiters, encodeWaiters, findOwnedCall, type CallRow } from './call-row.ts';
import { hasRoom, slotName } from './queue.ts';
import { expiryOf, findSession, isTokenOf, markSeen, sessionEnding, type SessionRow } from './session-row.ts';

/** The whole of accept: who asks, what the key stands for, whether there is room; only then the first write. */
export function acceptCall(transaction: Transaction, request: AcceptRequest): AcceptAnswer {
  const session = findSession(transaction, request.session);
  const ending = checkCaller(transaction, session, request);
  if (ending !== undefined || session === undefined) return { kind: 'unauthenticated', ending: ending ?? 'unknown' };

  const last = findLastGeneration(transaction, request.callId);
  const released = last !== undefined && last.state === 'settled' && last.releaseKey === 1;
  if (last !== undefined && !released) return joinCall(transaction, session, last, request);

  const slot = findPlace(transaction, session, request);
  const overload = checkAdmission(transaction, request, slot);
  if (overload !== undefined) return overload;
  markSeen(transaction, session);
  const call = { keyId: request.callId, generation: (last?.generation ?? 0) + 1 };
  writeCall(transaction, session, request, slot, call.generation);
  return { kind: 'accepted', callId: callIdOf(call) };
}

function checkCaller(
  transaction: Transaction,
  session: SessionRow | undefined,
  request: AcceptRequest,
): SessionEnding | undefined {
  if (session === undefined || !isProven(transaction, session, request.proof)) return 'unknown';
  const ending = sessionEnding(transaction, session, request.run);
  if (ending !== undefined) return ending;
  // The key of somebody else's call: without this, a caller could attach to any call whose id it knows.
  const asked = parseScopedId(request.callId);
  const own = parseScopedId(request.session);
  const inScope = asked !== undefined && asked.scope === own?.scope && asked.lane === own.lane;
  return inScope && !request.callId.includes('~') ? undefined : 'unknown';
}

function isProven(transaction: Transaction, session: SessionRow, proof: CallProof): boolean {
  if (proof.kind === 'token') return isTokenOf(session, proof.tokenDigest);
  // A worker speaks for a session only as long as it holds a call of that session.
  return findOwnedCall(transaction, proof.owned)?.session === session.id;
}

/** Earlier generations released the key; the highest one decides, also when retention has removed those before it. */
function findLastGeneration({ database }: Transaction, keyId: string): CallRow | undefined {
  return database.get<CallRow>(
    `SELECT ${CALL_COLUMNS} FROM call WHERE keyId = ? ORDER BY generation DESC LIMIT 1`,
    keyId,
  );
}

/** Same key again: replay, one more waiter, or a conflict. */
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
    const kept = database.get<{ outcome: Uint8Array }>('SELECT outcome FROM outcome WHERE seq = ?', call.seq);
    if (kept === undefined) throw new Error(`the outcome of ${callId} is missing`);
    return { kind: 'replayed', callId, outcome: kept.outcome };
  }
  const waiters = decodeWaiters(call.waiters);
  const known = waiters.some(
    (other) => other.callerId === waiter?.callerId && other.correlationId === waiter.correlationId,
  );
  if (waiter !== undefined && !known && waiters.length >= LIMITS.waitersPerCall) {
    return { kind: 'overloaded', what: 'waiters of this call', retryAfterMs: 1000 };
  }
  if (waiter !== undefined && !known) {
    database.run('UPDATE call SET waiters = ? WHERE seq = ?', encodeWaiters([...waiters, waiter]), call.seq);
  }
  return { kind: 'attached', callId, state: call.state };
}

interface Place {
  /** Absent for a call made by a running one: it must not wait for its own parent's place. */
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

function writeCall(
  transaction: Transaction,
  session: SessionRow,
  request: AcceptRequest,
  place: Place,
  generation: number,
): void {
  const { database, lane, now } = transaction;
  const bytes = request.envelope.byteLength;
  database.run(
    `INSERT INTO call (keyId, generation, state, scope, session, run, tool, pool, bodyDigest, identity, epoch,
       sessionExpiresAt, acceptedAt, deadline, bytes, waiters, serial, slot, slotWindow, holdsSlot, entryId)
     VALUES (?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    request.callId,
    generation,
    session.scope,
    session.id,
    request.run,
    request.tool,
    request.pool,
    request.bodyDigest,
    session.identity,
    lane.epoch,
    expiryOf(session, now),
    now,
    now + Math.ceil(request.deadlineMs),
    bytes,
    encodeWaiters(request.waiter === undefined ? [] : [request.waiter]),
    request.serial ? 1 : 0,
    place.slot,
    place.window,
    place.inQueue ? 1 : 0,
    place.inQueue ? lane.nextEntryId() : null,
  );
  database.run('INSERT INTO body (seq, envelope) VALUES (last_insert_rowid(), ?)', request.envelope);
  lane.liveCalls += 1;
  lane.liveBytes += bytes;
  if (place.slot !== null) lane.changeSlot(place.slot, place.inQueue ? { standing: 1 } : { backlog: 1 });
  if (place.inQueue) transaction.wake(poolTopic(request.pool));
}
