import type { Database } from '../../../../stores/sqlite/database.ts';
import type { Batch, CommitAnswer, DocumentHead, Put } from '../scoped-store.ts';
import { wordToken } from './word-token.ts';

interface DocumentRow {
  readonly row: number;
  readonly id: string;
  readonly version: number;
  readonly place: number;
  readonly at: number;
  readonly expires_at: number | null;
}

interface ScopeRow {
  readonly number: number;
  readonly counter: number;
  readonly version: number;
}

const FIND = 'SELECT row, id, version, place, at, expires_at FROM documents WHERE scope = ? AND collection = ?';
const MAX_PRUNED = 500;

/** Must be called inside a transaction. Everything is checked before the first write. */
export function commitBatch(database: Database, name: string, batch: Batch, now: number): CommitAnswer {
  const known = database.get<ScopeRow>('SELECT number, counter, version FROM scopes WHERE name = ?', name);
  if (batch.scopeVersion !== undefined && (known?.version ?? 0) !== batch.scopeVersion) return { kind: 'conflict' };
  const scope = known?.number ?? 0;
  for (const { collection, id, version } of batch.checks ?? []) {
    const found = findLive(database, scope, collection, id, now);
    if (found === undefined || (version !== undefined && found.version !== version)) return { kind: 'conflict' };
  }
  for (const put of batch.puts ?? []) {
    const refused = refusePut(database, scope, put, now);
    if (refused !== undefined) return refused;
  }
  return new Writing(database, name, known, now).write(batch);
}

function findLive(
  database: Database,
  scope: number,
  collection: string,
  id: string,
  now: number,
): DocumentRow | undefined {
  const found = database.get<DocumentRow>(`${FIND} AND id = ?`, scope, collection, id);
  return found !== undefined && isLive(found, now) ? found : undefined;
}

function isLive({ expires_at }: DocumentRow, now: number): boolean {
  return expires_at === null || expires_at > now;
}

function refusePut(database: Database, scope: number, put: Put, now: number): CommitAnswer | undefined {
  const { collection, id, key, most } = put;
  if (key !== undefined) {
    const holder = database.get<DocumentRow>(`${FIND} AND key = ?`, scope, collection, key);
    if (holder !== undefined && holder.id !== id && isLive(holder, now)) return { kind: 'exists', id: holder.id };
  }
  if (most === undefined) return undefined;
  if (id !== undefined && findLive(database, scope, collection, id, now) !== undefined) return undefined;
  return countDocuments(database, scope, collection) >= most ? { kind: 'full' } : undefined;
}

export function countDocuments(database: Database, scope: number, collection: string): number {
  const counted = 'SELECT count(*) AS count FROM documents WHERE scope = ? AND collection = ?';
  return database.get<{ count: number }>(counted, scope, collection)!.count;
}

function removeRow(database: Database, row: number): void {
  database.run('DELETE FROM documents WHERE row = ?', row);
  database.run('DELETE FROM labels WHERE row = ?', row);
  database.run('DELETE FROM vectors WHERE row = ?', row);
  database.run('DELETE FROM words WHERE rowid = ?', row);
}

/** The second half of a commit, after all checks: nothing is rejected here. */
class Writing {
  readonly #database: Database;
  readonly #now: number;
  readonly #scope: number;
  #counter: number;

  constructor(database: Database, name: string, known: ScopeRow | undefined, now: number) {
    this.#database = database;
    this.#now = now;
    this.#scope = known?.number ?? database.insert('INSERT INTO scopes (name) VALUES (?)', name);
    this.#counter = known?.counter ?? 0;
  }

  write(batch: Batch): CommitAnswer {
    for (const { collection, id } of batch.deletes ?? []) this.#delete(collection, id);
    const documents = (batch.puts ?? []).map((put) => this.#put(put));
    if (batch.prune !== undefined) this.#prune(batch.prune.collection, batch.prune.most);
    this.#database.run(
      'UPDATE scopes SET counter = ?, version = version + 1 WHERE number = ?',
      this.#counter,
      this.#scope,
    );
    return { kind: 'committed', documents };
  }

  #delete(collection: string, id: string): void {
    const found = this.#database.get<DocumentRow>(`${FIND} AND id = ?`, this.#scope, collection, id);
    if (found !== undefined) removeRow(this.#database, found.row);
  }

  #put(put: Put): DocumentHead {
    const { collection, keepOrder = false, ttlMs, key } = put;
    this.#counter += 1;
    const id = put.id ?? String(this.#counter);
    const old = this.#database.get<DocumentRow>(`${FIND} AND id = ?`, this.#scope, collection, id);
    // An expired document counts as absent, but its row may still exist, under this id or this key. Delete it first.
    if (old !== undefined) removeRow(this.#database, old.row);
    if (key !== undefined) this.#freeKey(collection, key);
    const before = old !== undefined && isLive(old, this.#now) ? old : undefined;
    const kept = keepOrder ? before : undefined;
    const head: DocumentHead = {
      id,
      version: (before?.version ?? 0) + 1,
      order: kept?.place ?? this.#counter,
      at: before?.at ?? this.#now,
    };
    const expiresAt = ttlMs === undefined ? null : this.#now + ttlMs;
    const columns = 'row, scope, collection, id, version, place, at, expires_at, key, body';
    const place = [kept?.row ?? null, this.#scope, collection, id] as const;
    const row = this.#database.insert(
      `INSERT INTO documents (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...place,
      head.version,
      head.order,
      head.at,
      expiresAt,
      key ?? null,
      put.body,
    );
    this.#index(put, row, head.order);
    return head;
  }

  #freeKey(collection: string, key: string): void {
    const holder = this.#database.get<DocumentRow>(`${FIND} AND key = ?`, this.#scope, collection, key);
    if (holder !== undefined) removeRow(this.#database, holder.row);
  }

  #index({ collection, labels = [], terms = [] }: Put, row: number, place: number): void {
    for (const label of labels) {
      this.#database.run('INSERT INTO labels VALUES (?, ?, ?, ?, ?)', this.#scope, collection, label, place, row);
    }
    if (terms.length === 0) return;
    const tokens = terms.map((term) => wordToken(this.#scope, collection, term)).join(' ');
    this.#database.run('INSERT INTO words (rowid, tokens) VALUES (?, ?)', row, tokens);
  }

  #prune(collection: string, max: number): void {
    const excess = Math.min(countDocuments(this.#database, this.#scope, collection) - max, MAX_PRUNED);
    const where = 'FROM documents WHERE scope = ? AND collection = ?';
    const oldest =
      excess <= 0
        ? []
        : this.#database.all<{ row: number }>(
            `SELECT row ${where} ORDER BY place LIMIT ?`,
            this.#scope,
            collection,
            excess,
          );
    for (const { row } of oldest) removeRow(this.#database, row);
  }
}

/** Deletes expired documents of all scopes, at most `limit` at a time, so that no request waits long. */
export function sweepExpired(database: Database, now: number, limit: number): number {
  const rows = database.all<{ row: number }>('SELECT row FROM documents WHERE expires_at <= ? LIMIT ?', now, limit);
  for (const { row } of rows) removeRow(database, row);
  return rows.length;
}
