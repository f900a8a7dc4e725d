import type { Grant, GrantId, NewGrant } from '../../../domain/policy/approval.ts';
import { parseScopedId } from '../../../domain/identity/ids.ts';
import type { DecideRequest, FindGrantsRequest, UseGrantRequest } from '../../../domain/ports/approval-store.ts';
import type { CallRow, GrantRow } from '../rows.ts';
import type { Transaction } from '../transaction.ts';
import { appendAudit } from './append-audit.ts';
import { changeCall, findCall, findOwnedCall } from './call-row.ts';

/** Max grants that are read, the latest first. A subject whose calls often need an approval can have many. */
const MAX_FOUND = 256;

export function writeGrant(
  transaction: Transaction,
  call: CallRow,
  { id, lifetimeMs, usesLeft, ...facts }: NewGrant,
  { id: approval, by, audit }: DecideRequest,
): void {
  const { database, now } = transaction;
  database.run(
    'INSERT INTO grant VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?)',
    id,
    parseScopedId(id)!.scope,
    facts.tool,
    JSON.stringify({ ...facts, approval, by }),
    now,
    now + Math.ceil(lifetimeMs),
    usesLeft ?? null,
    call.keyId,
    call.generation,
    call.session,
    call.bodyDigest,
    call.identity,
    approval,
    call.run,
  );
  database.run('UPDATE approval SET grantId = ? WHERE id = ?', id, approval);
  appendAudit(transaction, { ...call, grantId: id }, 'grant.created', audit);
}

function findGrant({ database }: Transaction, id: string): GrantRow | undefined {
  return database.get<GrantRow>('SELECT * FROM grant WHERE id = ?', id);
}

function toGrant(row: GrantRow): Grant {
  return {
    id: row.id,
    ...(JSON.parse(row.facts) as Omit<Grant, 'id' | 'createdAt' | 'expiresAt' | 'usesLeft' | 'revoked'>),
    createdAt: row.createdAt,
    expiresAt: row.expiresAt,
    ...(row.usesLeft === null ? {} : { usesLeft: row.usesLeft }),
    revoked: row.revoked === 1,
  };
}

export function listGrants({ database, now }: Transaction, { limit }: { readonly limit: number }): Grant[] {
  const rows = database.all<GrantRow>(
    'SELECT * FROM grant WHERE expiresAt > ? ORDER BY expiresAt, id LIMIT ?',
    now,
    limit,
  );
  return rows.map(toGrant);
}

export function readGrant(transaction: Transaction, id: GrantId): Grant | undefined {
  const row = findGrant(transaction, id);
  return row === undefined || row.expiresAt <= transaction.now ? undefined : toGrant(row);
}

export function findGrants(transaction: Transaction, { session, tool, callId }: FindGrantsRequest): Grant[] {
  const scoped = parseScopedId(session);
  if (scoped === undefined) return [];
  const used = callId === undefined ? undefined : findCall(transaction, callId)?.grantId;
  const rows = transaction.database.all<GrantRow>(
    `SELECT * FROM grant WHERE scope = ? AND tool = ? AND expiresAt > ? AND revoked = 0
       AND (usesLeft IS NULL OR usesLeft > 0 OR id = ?) ORDER BY createdAt DESC, id LIMIT ?`,
    scoped.scope,
    tool,
    transaction.now,
    used ?? null,
    MAX_FOUND,
  );
  return rows.map(toGrant);
}

export function useGrant(transaction: Transaction, { id, owned, audit }: UseGrantRequest): 'used' | 'gone' | 'fenced' {
  const call = findOwnedCall(transaction, owned);
  if (call === undefined) return 'fenced';
  const grant = findGrant(transaction, id);
  if (grant === undefined || grant.revoked === 1 || grant.expiresAt <= transaction.now) return 'gone';
  if (grant.scope !== parseScopedId(call.keyId)?.scope || grant.tool !== call.tool) return 'gone';
  // This call's use was counted before, under the same lease or under an earlier lease that was lost.
  if (call.grantId === id) return 'used';
  if (grant.usesLeft !== null) {
    if (grant.usesLeft <= 0) return 'gone';
    transaction.database.run('UPDATE grant SET usesLeft = usesLeft - 1 WHERE id = ?', id);
  }
  changeCall(transaction, call, 'grantId = ?', id);
  appendAudit(transaction, { ...call, grantId: id }, 'grant.used', audit);
  return 'used';
}

/** Only the first revocation is recorded; a repeated one changes nothing. */
export function revokeGrant(
  transaction: Transaction,
  { id, audit }: { readonly id: GrantId; readonly audit: Uint8Array },
): 'revoked' | 'unknown' {
  const grant = findGrant(transaction, id);
  if (grant === undefined || grant.expiresAt <= transaction.now) return 'unknown';
  if (grant.revoked === 1) return 'revoked';
  transaction.database.run('UPDATE grant SET revoked = 1 WHERE id = ?', id);
  appendAudit(transaction, { ...grant, grantId: id }, 'grant.revoked', audit);
  return 'revoked';
}
