import type { ReplyItem, TakenReply } from '../../domain/ports/call-requests.ts';
import type { Database } from '../sqlite/database.ts';

/** Max replies per answer. Only outcomes up to 16 KiB are inline, so an answer stays below 4 MiB. */
const MAX_AT_ONCE = 256;
/**
 * Max replies of one caller that hold their outcome in memory. Beyond this number a reply is only a reference, and the waiter reads the
 * outcome from the store. So a caller that reads nothing takes little memory.
 */
const MAX_INLINE = 1_000;

interface Reply {
  readonly replyId: number;
  readonly item: ReplyItem;
  readonly at: number;
}

interface ReplyRow {
  readonly replyId: number;
  readonly callerId: string;
  readonly correlationId: string;
  readonly kind: ReplyItem['kind'];
  readonly payload: Uint8Array | null;
  readonly at: number;
}

/**
 * The replies that callers have not acknowledged yet, by caller. They are held in memory, because one thread owns the file. The file has
 * them too, for a restart; there an outcome is only a reference, because the call's row has it. The replies in memory include the changes
 * of the current transaction, like the lane's counters: `load` reads everything again after a rollback.
 */
export class Replies {
  readonly #database: Database;
  readonly #byCaller = new Map<string, Reply[]>();
  /** When each caller last asked for replies, since this process opened the store. */
  readonly #lastReads = new Map<string, number>();

  constructor(database: Database) {
    this.#database = database;
    this.load();
  }

  load(): void {
    this.#byCaller.clear();
    for (const row of this.#database.all<ReplyRow>('SELECT * FROM reply ORDER BY replyId')) {
      this.#keep(row.callerId, { replyId: row.replyId, item: toItem(row), at: row.at });
    }
  }

  send(callerId: string, { replyId, item, at }: Reply): void {
    const event = item.kind === 'event' ? item.event : null;
    this.#database.run(
      'INSERT INTO reply VALUES (?, ?, ?, ?, ?, ?)',
      replyId,
      callerId,
      item.correlationId,
      item.kind === 'settled' ? 'settled-by-reference' : item.kind,
      event,
      at,
    );
    const isLong = (this.#byCaller.get(callerId)?.length ?? 0) >= MAX_INLINE;
    const kept = isLong && item.kind === 'settled' ? byReference(item.correlationId) : item;
    this.#keep(callerId, { replyId, item: kept, at });
  }

  /** Replies that are not acknowledged are returned again. */
  take(callerId: string, acknowledged: readonly string[], now: number): TakenReply[] {
    this.#lastReads.set(callerId, now);
    const waiting = this.#byCaller.get(callerId);
    if (waiting === undefined) return [];
    this.#acknowledge(callerId, waiting, acknowledged);
    return waiting.slice(0, MAX_AT_ONCE).map(({ replyId, item }) => ({ replyId: String(replyId), items: [item] }));
  }

  /** Deletes the replies of callers that have not asked since `before`. Their outcomes can still be read by call id. */
  forget(before: number): void {
    for (const [callerId, readAt] of this.#lastReads) if (readAt <= before) this.#lastReads.delete(callerId);
    for (const [callerId, waiting] of this.#byCaller) {
      if (this.#lastReads.has(callerId)) continue;
      const old = waiting.findLastIndex(({ at }) => at <= before) + 1;
      if (old > 0) this.#dropFirst(callerId, waiting, old);
    }
  }

  #keep(callerId: string, reply: Reply): void {
    const waiting = this.#byCaller.get(callerId);
    if (waiting === undefined) this.#byCaller.set(callerId, [reply]);
    else waiting.push(reply);
  }

  #acknowledge(callerId: string, waiting: Reply[], acknowledged: readonly string[]): void {
    // Usually replies are acknowledged in the order in which they were sent, from the first on.
    let inOrder = 0;
    while (inOrder < acknowledged.length && String(waiting[inOrder]?.replyId) === acknowledged[inOrder]) inOrder += 1;
    if (inOrder > 0) this.#dropFirst(callerId, waiting, inOrder);
    for (const replyId of acknowledged.slice(inOrder)) {
      const index = waiting.findIndex((reply) => String(reply.replyId) === replyId);
      if (index >= 0) this.#drop(callerId, waiting, index);
    }
  }

  #dropFirst(callerId: string, waiting: Reply[], count: number): void {
    const dropped = waiting.splice(0, count);
    // The range may contain replies of other callers, so the caller's id is compared too.
    this.#database.run(
      'DELETE FROM reply WHERE replyId BETWEEN ? AND ? AND callerId = ?',
      dropped[0]!.replyId,
      dropped.at(-1)!.replyId,
      callerId,
    );
    if (waiting.length === 0) this.#byCaller.delete(callerId);
  }

  #drop(callerId: string, waiting: Reply[], index: number): void {
    const [dropped] = waiting.splice(index, 1);
    this.#database.run('DELETE FROM reply WHERE replyId = ?', dropped!.replyId);
    if (waiting.length === 0) this.#byCaller.delete(callerId);
  }
}

function byReference(correlationId: string): ReplyItem {
  return { kind: 'settled-by-reference', correlationId };
}

function toItem({ kind, correlationId, payload }: ReplyRow): ReplyItem {
  const bytes = payload ?? new Uint8Array(0);
  switch (kind) {
    case 'settled':
      return { kind, correlationId, outcome: bytes };
    case 'settled-by-reference':
      return { kind, correlationId };
    case 'event':
      return { kind, correlationId, event: bytes };
  }
}
