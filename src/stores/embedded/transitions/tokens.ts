import { randomUUID, timingSafeEqual } from 'node:crypto';
import { planeError } from '../../../domain/errors/errors.ts';
import { TOKEN_LIMITS, type GatewayToken, type NewToken } from '../../../domain/identity/gateway-token.ts';
import type { SessionId } from '../../../domain/identity/ids.ts';
import { LOGIN_KNOWN_MS, type CreateTokenRequest, type TokenStore } from '../../../domain/ports/token-store.ts';
import { recordOfLogin, recordOfNewToken, recordOfRevokedToken, withFacts } from '../../administrative-record.ts';
import { checkNewToken, checkUse, TAKEN } from '../../check-token.ts';
import type { TokenRow } from '../rows.ts';
import type { Transaction } from '../transaction.ts';
import { appendAdministration } from './append-audit.ts';
import { hashToken } from './session-row.ts';
import { revokeSession } from './sessions.ts';

type Answer<Method extends keyof TokenStore> = Awaited<ReturnType<TokenStore[Method]>>;
type Request<Method extends keyof TokenStore> = Parameters<TokenStore[Method]>[0];

export function createToken(transaction: Transaction, request: CreateTokenRequest): Answer<'createToken'> {
  checkNewToken(request);
  const { token, secretDigest, lifetimeMs } = request;
  const existing = findToken(transaction, token.id);
  if (existing !== undefined) {
    // The same request again after a lost answer. Attack: with another secret, the request would take over another owner's token.
    if (!isSecretOf(existing, secretDigest)) throw planeError('TOKEN_INVALID', { problem: TAKEN });
    return { kind: 'created', token: toToken(existing) };
  }
  if (!makeRoom(transaction)) return { kind: 'full' };
  const { database, now } = transaction;
  const { id, ...facts } = token;
  const expiresAt = now + Math.ceil(lifetimeMs);
  const record = recordOfNewToken(request);
  appendAdministration(transaction, { ...record, detail: withFacts(record.detail, { expiresAt }) });
  database.run(
    'INSERT OR REPLACE INTO token VALUES (?, ?, ?, ?, ?, NULL, ?)',
    id,
    hashToken(secretDigest),
    JSON.stringify(facts),
    now,
    expiresAt,
    expiresAt + TOKEN_LIMITS.keptAfterEndMs,
  );
  return { kind: 'created', token: toToken(findToken(transaction, id)!) };
}

/** Deletes an ended token early, if there is one, rather than refuse a new token. */
function makeRoom({ database, now }: Transaction): boolean {
  const kept = database.get<{ tokens: number }>('SELECT count(*) AS tokens FROM token')!.tokens;
  if (kept < TOKEN_LIMITS.maxTokens) return true;
  const gone = database.run(
    'DELETE FROM token WHERE id = (SELECT id FROM token WHERE forgetAt <= ? ORDER BY forgetAt LIMIT 1)',
    now + TOKEN_LIMITS.keptAfterEndMs,
  );
  return gone > 0;
}

export function proveToken(
  transaction: Transaction,
  { id, secretDigest }: Request<'proveToken'>,
): Answer<'proveToken'> {
  const row = findToken(transaction, id);
  if (row === undefined || !isSecretOf(row, secretDigest)) return undefined;
  return row.revokedAt === null && transaction.now < row.expiresAt ? toToken(row) : undefined;
}

export function listTokens({ database, now }: Transaction, { limit }: Request<'listTokens'>): GatewayToken[] {
  const rows = database.all<TokenRow>(
    'SELECT * FROM token WHERE forgetAt > ? ORDER BY createdAt DESC, id DESC LIMIT ?',
    now,
    limit,
  );
  return rows.map(toToken);
}

export function noteTokenSession(
  transaction: Transaction,
  { id, session, lifetimeMs }: Request<'noteTokenSession'>,
): Answer<'noteTokenSession'> {
  const { database, now } = transaction;
  const token = findToken(transaction, id);
  if (token === undefined || token.revokedAt !== null || now >= token.expiresAt) return 'ended';
  database.run('INSERT OR REPLACE INTO tokenSession VALUES (?, ?, ?)', id, session, now + Math.ceil(lifetimeMs));
  return 'noted';
}

export function revokeToken(transaction: Transaction, request: Request<'revokeToken'>): Answer<'revokeToken'> {
  const { database, now } = transaction;
  const { id } = request;
  const row = findToken(transaction, id);
  if (row === undefined) return 'unknown';
  if (row.revokedAt !== null) return 'revoked';
  appendAdministration(transaction, recordOfRevokedToken(toToken(row), request));
  // A token that expired before its revocation is still forgotten at the time that follows from its expiry.
  database.run(
    'UPDATE token SET revokedAt = ?1, forgetAt = min(forgetAt, ?1 + ?2) WHERE id = ?3',
    now,
    TOKEN_LIMITS.keptAfterEndMs,
    id,
  );
  revokeSessionsOf(transaction, request);
  return 'revoked';
}

function revokeSessionsOf(transaction: Transaction, request: Request<'revokeToken'>): void {
  const { database } = transaction;
  const { id } = request;
  const opened = database.all<{ session: SessionId }>('SELECT session FROM tokenSession WHERE token = ?', id);
  for (const { session } of opened) revokeSession(transaction, { ...request, session });
  database.run('DELETE FROM tokenSession WHERE token = ?', id);
}

/** A token and its sessions are revoked in one transaction, so there is nothing to finish unless the file was changed by hand. */
export function finishRevocations(transaction: Transaction, { thorough }: Request<'finishRevocations'>): number {
  if (!thorough) return 0;
  const left = transaction.database.all<{ token: string }>(
    `SELECT DISTINCT tokenSession.token FROM tokenSession JOIN token ON token.id = tokenSession.token
     WHERE token.revokedAt IS NOT NULL`,
  );
  for (const { token } of left) revokeSessionsOf(transaction, { id: token });
  return left.length;
}

export function useOnce({ database, now }: Transaction, request: Request<'useOnce'>): Answer<'useOnce'> {
  checkUse(request);
  const { digest, attempt, lifetimeMs } = request;
  const known = database.get<{ attempt: string }>(
    'SELECT attempt FROM once WHERE digest = ? AND expiresAt > ?',
    digest,
    now,
  );
  if (known !== undefined) return known.attempt === attempt ? 'first' : 'used';
  if (!(lifetimeMs > 0)) return 'used';
  database.run('INSERT OR REPLACE INTO once VALUES (?, ?, ?)', digest, attempt, now + Math.ceil(lifetimeMs));
  return 'first';
}

export function recordLogin(transaction: Transaction, request: Request<'recordLogin'>): void {
  const { attempt } = request;
  if (useOnce(transaction, { digest: attempt, attempt: randomUUID(), lifetimeMs: LOGIN_KNOWN_MS }) === 'used') return;
  appendAdministration(transaction, recordOfLogin(request));
}

function findToken({ database, now }: Transaction, id: string): TokenRow | undefined {
  return database.get<TokenRow>('SELECT * FROM token WHERE id = ? AND forgetAt > ?', id, now);
}

/** Compares in constant time: the duration must not reveal how much of a guess was right. */
function isSecretOf({ secretHash }: TokenRow, secretDigest: string): boolean {
  return timingSafeEqual(hashToken(secretDigest), secretHash);
}

function toToken({ id, facts, createdAt, expiresAt, revokedAt }: TokenRow): GatewayToken {
  return {
    id,
    ...(JSON.parse(facts) as Omit<NewToken, 'id'>),
    createdAt,
    expiresAt,
    ...(revokedAt === null ? {} : { revokedAt }),
  };
}
