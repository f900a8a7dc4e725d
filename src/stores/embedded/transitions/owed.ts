import type { CallId } from '../../../domain/identity/ids.ts';
import {
  MAX_OWED_PER_SUBJECT,
  OWED_BEATS,
  type HoldOwedAnswer,
  type HoldOwedRequest,
  type OwedStore,
  type ReleaseOwedRequest,
} from '../../../domain/ports/owed-store.ts';
import { checkBeat, checkHold, checkRelease, placeOf, type OwedPlace } from '../../check-owed.ts';
import type { Transaction } from '../transaction.ts';

interface OwedRow {
  readonly scope: string;
  readonly name: string;
  readonly holder: string | null;
  readonly attempt: string;
  readonly madeAt: number;
  readonly owedFrom: number;
}

/** The file has one lane. */
const LANES = 1;
/** SQL: whether the holder of an entry is alive. The first parameter of a statement that contains it must be the time. */
const LIVES = `EXISTS (SELECT 1 FROM owedHolder
  WHERE owedHolder.holder = owed.holder AND beatAt > ?1 - ${OWED_BEATS.silentMs})`;

export function holdOwed(transaction: Transaction, request: HoldOwedRequest): HoldOwedAnswer {
  const place = checkHold(request, LANES);
  beat(transaction, request.holder);
  const same = entriesLike(transaction, place.scope, request.digest);
  // The same request again: its first answer was lost.
  const repeated = same.find(({ name, attempt }) => name === place.name || attempt === place.name);
  if (repeated !== undefined) return repeated.name === place.name ? { kind: 'made' } : taken(repeated);
  if (request.of !== undefined) return takeNamed(transaction, request, place);
  if (request.fresh !== true) {
    const cameAt = transaction.now - Math.floor(request.waitedMs ?? 0);
    const owed = same.find(({ holder, owedFrom }) => holder === null && owedFrom <= cameAt);
    if (owed !== undefined) return take(transaction, owed, request, place);
    const found = findDead(transaction, same, request);
    if (found === 'unsure') return { kind: 'wait', since: request.waitingSince ?? transaction.now };
    if (found !== undefined) return take(transaction, found, request, place);
  }
  return makeRoom(transaction, place.scope) ? make(transaction, request, place) : { kind: 'full', of: 'subject' };
}

/** Returns the entries with this digest, oldest first. */
function entriesLike({ database, now }: Transaction, scope: string, digest: string): OwedRow[] {
  return database.all<OwedRow>(
    `SELECT * FROM owed WHERE scope = ?2 AND digest = ?3 AND (expiresAt > ?1 OR ${LIVES}) ORDER BY madeAt, name`,
    now,
    scope,
    digest,
  );
}

function takeNamed(transaction: Transaction, request: HoldOwedRequest, place: OwedPlace): HoldOwedAnswer {
  const { scope, name } = placeOf(request.of!, LANES);
  const row = transaction.database.get<OwedRow>(
    `SELECT * FROM owed WHERE scope = ?2 AND name = ?3 AND digest = ?4 AND (expiresAt > ?1 OR ${LIVES})`,
    transaction.now,
    scope,
    name,
    request.digest,
  );
  if (row === undefined || scope !== place.scope) return { kind: 'none' };
  return row.attempt === place.name ? taken(row) : take(transaction, row, request, place);
}

/**
 * Returns the first entry whose holder is another gateway that is dead. If there is none, but one of the holders may be dead, returns
 * `unsure`.
 */
function findDead(
  { database, now }: Transaction,
  entries: readonly OwedRow[],
  { holder, waitingSince, leaseMs }: HoldOwedRequest,
): OwedRow | 'unsure' | undefined {
  let isUnsure = false;
  for (const entry of entries) {
    if (entry.holder === null || entry.holder === holder) continue;
    const row = database.get<{ beatAt: number }>('SELECT beatAt FROM owedHolder WHERE holder = ?', entry.holder);
    if (waitingSince === undefined) isUnsure = true;
    else if ((row?.beatAt ?? 0) > waitingSince) continue;
    else if (now >= waitingSince + leaseMs) return entry;
    else isUnsure = true;
  }
  return isUnsure ? 'unsure' : undefined;
}

function take(
  { database, now }: Transaction,
  row: OwedRow,
  { holder, lifetimeMs }: HoldOwedRequest,
  { name: attempt }: OwedPlace,
): HoldOwedAnswer {
  database.run(
    'UPDATE owed SET holder = ?, attempt = ?, expiresAt = max(expiresAt, ?) WHERE scope = ? AND name = ?',
    holder,
    attempt,
    now + Math.ceil(lifetimeMs),
    row.scope,
    row.name,
  );
  return taken(row);
}

function taken({ scope, name, madeAt }: OwedRow): HoldOwedAnswer {
  return { kind: 'taken', callId: `0.${scope}.${name}` as CallId, madeAt };
}

function make({ database, now }: Transaction, request: HoldOwedRequest, { scope, name }: OwedPlace): HoldOwedAnswer {
  const { digest, holder, lifetimeMs } = request;
  const expiresAt = now + Math.ceil(lifetimeMs);
  database.run('INSERT INTO owed VALUES (?, ?, ?, ?, ?, ?, 0, ?)', scope, name, digest, holder, name, now, expiresAt);
  return { kind: 'made' };
}

function makeRoom({ database, now }: Transaction, scope: string): boolean {
  const { kept } = database.get<{ kept: number }>('SELECT count(*) AS kept FROM owed WHERE scope = ?', scope)!;
  if (kept < MAX_OWED_PER_SUBJECT) return true;
  const gone = database.run(
    `DELETE FROM owed WHERE scope = ?2 AND name =
       (SELECT name FROM owed WHERE scope = ?2 AND NOT ${LIVES} ORDER BY expiresAt LIMIT 1)`,
    now,
    scope,
  );
  return gone > 0;
}

export function releaseOwed(
  { database, now }: Transaction,
  request: ReleaseOwedRequest,
): Awaited<ReturnType<OwedStore['releaseOwed']>> {
  const { scope, name } = checkRelease(request, LANES);
  const attempt = placeOf(request.attempt, LANES).name;
  if (request.to === 'gone') {
    const removed = database.run('DELETE FROM owed WHERE scope = ? AND name = ? AND attempt = ?', scope, name, attempt);
    return removed > 0 ? 'released' : 'gone';
  }
  const isLost = request.to === 'lost';
  const owedAt = isLost ? now : now + Math.ceil(request.owedAfterMs ?? 0);
  const changed = database.run(
    'UPDATE owed SET holder = NULL, owedFrom = ?, expiresAt = ? WHERE scope = ? AND name = ? AND attempt = ?',
    isLost ? 0 : owedAt,
    owedAt + Math.ceil(request.lifetimeMs),
    scope,
    name,
    attempt,
  );
  return changed > 0 ? 'released' : 'gone';
}

export function beatOwed(transaction: Transaction, request: { readonly lane: number; readonly holder: string }): void {
  checkBeat(request, LANES);
  beat(transaction, request.holder);
}

function beat({ database, now }: Transaction, holder: string): void {
  const known = database.get<{ beatAt: number }>('SELECT beatAt FROM owedHolder WHERE holder = ?', holder);
  if (known !== undefined && now - known.beatAt < OWED_BEATS.everyMs) return;
  database.run('INSERT OR REPLACE INTO owedHolder VALUES (?, ?)', holder, now);
}

/** Deletes up to `limit` expired entries, so that one reap stays short. */
export function forgetOwed({ database, now }: Transaction, limit: number): void {
  database.run(
    `DELETE FROM owed WHERE (scope, name) IN
       (SELECT scope, name FROM owed WHERE expiresAt <= ?1 AND NOT ${LIVES} LIMIT ?2)`,
    now,
    limit,
  );
  database.run('DELETE FROM owedHolder WHERE beatAt <= ?', now - OWED_BEATS.silentMs);
}
