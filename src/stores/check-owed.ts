import { planeError } from '../domain/errors/errors.ts';
import { parseScopedId } from '../domain/identity/ids.ts';
import type { HoldOwedRequest, ReleaseOwedRequest } from '../domain/ports/owed-store.ts';

const DIGEST = /^[0-9a-f]{64}$/;
const HOLDER = /^[A-Za-z0-9_-]{1,64}$/;
const MAX_LIFETIME_MS = 365 * 24 * 60 * 60 * 1000;

/** The place of an entry: lane and scope of its subject, and the last part of its call's id. */
export interface OwedPlace {
  readonly lane: number;
  readonly scope: string;
  readonly name: string;
}

/** Rejects a request whose entry the store could not keep, or could not find again. */
export function checkHold(request: HoldOwedRequest, lanes: number): OwedPlace {
  const place = placeOf(request.callId, lanes);
  const isComplete = DIGEST.test(request.digest) && HOLDER.test(request.holder);
  const areTimes = [request.lifetimeMs, request.leaseMs, request.waitedMs ?? 0].every(isTime);
  if (!isComplete || !areTimes) throw refused();
  return place;
}

export function checkRelease(request: ReleaseOwedRequest, lanes: number): OwedPlace {
  const place = placeOf(request.callId, lanes);
  const isSameSubject = placeOf(request.attempt, lanes).scope === place.scope;
  const owedAfterMs = request.to === 'owed' ? (request.owedAfterMs ?? 0) : 0;
  const areTimes = request.to === 'gone' || (isTime(owedAfterMs) && isTime(request.lifetimeMs));
  if (!isSameSubject || !areTimes) throw refused();
  return place;
}

export function checkBeat({ lane, holder }: { readonly lane: number; readonly holder: string }, lanes: number): void {
  if (!HOLDER.test(holder) || !Number.isInteger(lane) || lane < 0 || lane >= lanes) throw refused();
}

/**
 * Returns the place of a call's entry. When a released key is used again, the new call has the id `<id>~2`; it shares the entry of the
 * first call.
 */
export function placeOf(callId: string, lanes: number): OwedPlace {
  const id = parseScopedId(callId);
  if (id === undefined || id.lane >= lanes) throw refused();
  return { lane: id.lane, scope: id.scope, name: id.rest };
}

function isTime(ms: number): boolean {
  return ms >= 0 && ms <= MAX_LIFETIME_MS;
}

function refused(): Error {
  return planeError('INTERNAL', { problem: 'a request about calls owed is malformed' });
}
