import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { migrate } from './schema.ts';

export interface Note {
  readonly id: number;
  readonly title: string;
  readonly text: string;
  readonly tags: string[];
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface FoundNotes {
  readonly notes: { id: number; title: string; tags: string[]; updatedAt: string; preview: string }[];
  readonly more: boolean;
}

export interface Owner {
  readonly tenant: string;
  readonly subject: string;
}

interface NoteContent {
  readonly title?: string | undefined;
  readonly text?: string | undefined;
  readonly tags?: readonly string[] | undefined;
}

/** How long to wait for another worker that writes to the same file. The wait blocks the process, so it is short. */
const BUSY_TIMEOUT_MS = 2000;
const MAX_WORDS = 16;

/**
 * Opens the file for one piece of work of one owner. It is opened for each call, so that nothing stays open on reload or drain, and a file
 * that was moved away or restored in the meantime is noticed.
 */
export function withNotes<Result>(file: string, owner: Owner, work: (notes: NoteStore) => Result): Result {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    migrate(database);
    return work(new NoteStore(database, owner));
  } finally {
    database.close();
  }
}

const COLUMNS = 'id, title, text, tags, created_at, updated_at';
const OWNED = 'tenant = ? AND subject = ?';

/** Every statement names the owner, so an id alone never gives access to a note of another owner. */
export class NoteStore {
  readonly #database: DatabaseSync;
  readonly #owner: readonly [string, string];

  constructor(database: DatabaseSync, owner: Owner) {
    this.#database = database;
    this.#owner = [owner.tenant, owner.subject];
  }

  add(content: { title: string; text: string; tags: readonly string[] }, callId: string): Note {
    const now = Date.now();
    this.#database
      .prepare(
        `INSERT INTO notes (tenant, subject, added_by, title, text, tags, created_at, updated_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, subject, added_by) DO NOTHING`,
      )
      .run(...this.#owner, callId, content.title, content.text, JSON.stringify(content.tags), now, now);
    const row = this.#database
      .prepare(`SELECT ${COLUMNS} FROM notes WHERE ${OWNED} AND added_by = ?`)
      .get(...this.#owner, callId);
    return toNote(row as unknown as NoteRow);
  }

  read(id: number): Note | undefined {
    const row = this.#database
      .prepare(`SELECT ${COLUMNS} FROM notes WHERE ${OWNED} AND id = ?`)
      .get(...this.#owner, id);
    return row === undefined ? undefined : toNote(row as unknown as NoteRow);
  }

  edit(id: number, { title, text, tags }: NoteContent): Note | undefined {
    const row = this.#database
      .prepare(
        `UPDATE notes SET title = coalesce(?, title), text = coalesce(?, text), tags = coalesce(?, tags), updated_at = ?
         WHERE ${OWNED} AND id = ? RETURNING ${COLUMNS}`,
      )
      .get(
        title ?? null,
        text ?? null,
        tags === undefined ? null : JSON.stringify(tags),
        Date.now(),
        ...this.#owner,
        id,
      );
    return row === undefined ? undefined : toNote(row as unknown as NoteRow);
  }

  delete(id: number): boolean {
    return this.#database.prepare(`DELETE FROM notes WHERE ${OWNED} AND id = ?`).run(...this.#owner, id).changes > 0;
  }

  list(limit: number, beforeId = Number.MAX_SAFE_INTEGER): FoundNotes {
    const rows = this.#database
      .prepare(
        `SELECT id, title, tags, updated_at, substr(text, 1, 200) AS preview FROM notes
         WHERE ${OWNED} AND id < ? ORDER BY id DESC LIMIT ?`,
      )
      .all(...this.#owner, beforeId, limit + 1);
    return toFound(rows as FoundRow[], limit);
  }

  /** Searches by words. If no note has them, searches for the query as it is, for languages without spaces and for text such as `a->b`. */
  search(query: string, limit: number): FoundNotes {
    const words = (query.match(/[\p{L}\p{N}]+/gu) ?? []).slice(0, MAX_WORDS);
    const byWords = words.length === 0 ? [] : this.#searchWords(words, limit + 1);
    return toFound(byWords.length > 0 ? byWords : this.#searchLiterally(query, limit + 1), limit);
  }

  #searchWords(words: readonly string[], limit: number): FoundRow[] {
    return (
      this.#database
        .prepare(
          `SELECT notes.id, notes.title, notes.tags, notes.updated_at, snippet(notes_fts, -1, '', '', '…', 32) AS preview
         FROM notes_fts JOIN notes ON notes.id = notes_fts.rowid
         WHERE notes_fts MATCH ? AND ${OWNED} ORDER BY notes_fts.rank, notes.id DESC LIMIT ?`,
        )
        // The words are quoted, so that NOT and NEAR are words and not operators.
        .all(words.map((word) => `"${word}"*`).join(' '), ...this.#owner, limit) as FoundRow[]
    );
  }

  #searchLiterally(query: string, limit: number): FoundRow[] {
    return this.#database
      .prepare(
        `SELECT id, title, tags, updated_at, substr(text, 1, 200) AS preview FROM notes
         WHERE ${OWNED} AND instr(lower(title || char(10) || text), lower(?)) > 0 ORDER BY id DESC LIMIT ?`,
      )
      .all(...this.#owner, query, limit) as FoundRow[];
  }
}

interface NoteRow {
  readonly id: number;
  readonly title: string;
  readonly text: string;
  readonly tags: string;
  readonly created_at: number;
  readonly updated_at: number;
}

type FoundRow = Omit<NoteRow, 'text' | 'created_at'> & { readonly preview: string };

function toNote({ id, title, text, tags, created_at, updated_at }: NoteRow): Note {
  return {
    id,
    title,
    text,
    tags: JSON.parse(tags) as string[],
    createdAt: iso(created_at),
    updatedAt: iso(updated_at),
  };
}

function toFound(rows: readonly FoundRow[], limit: number): FoundNotes {
  const notes = rows.slice(0, limit).map(({ id, title, tags, updated_at, preview }) => {
    return { id, title, tags: JSON.parse(tags) as string[], updatedAt: iso(updated_at), preview };
  });
  return { notes, more: rows.length > limit };
}

function iso(unixMs: number): string {
  return new Date(unixMs).toISOString();
}
