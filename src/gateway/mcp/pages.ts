import { invalidParams } from './protocol-problem.ts';

const PAGE = 500;
/**
 * How long a client may cache a page. Equal to `TOOLS_KNOWN_MS`, for which the gateway keeps the list that it sent and looks up names in it:
 * so no client uses a cached name that the gateway has forgotten. Clients that listen are also notified of changes.
 */
const TTL_MS = 2000;

export interface Page<Item> {
  readonly items: readonly Item[];
  /**
   * The fields of the result next to the items: where the next page starts, how long the page may be cached, and that it is only for this
   * client.
   */
  readonly more: { readonly nextCursor?: string; readonly ttlMs: number; readonly cacheScope: 'private' };
}

/** One page of a list that is sorted by key. The cursor names the last key of the page before, so it stays valid when the list changes. */
export function pageOf<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  cursor: string | undefined,
): Page<Item> {
  const after = cursor === undefined ? undefined : readCursor(cursor);
  const rest = after === undefined ? items : items.filter((item) => keyOf(item) > after);
  const page = rest.slice(0, PAGE);
  const last = page.at(-1);
  const isLast = last === undefined || rest.length <= PAGE;
  return {
    items: page,
    more: { ...(isLast ? {} : { nextCursor: writeCursor(keyOf(last)) }), ttlMs: TTL_MS, cacheScope: 'private' },
  };
}

function writeCursor(key: string): string {
  return Buffer.from(`after ${key}`).toString('base64url');
}

function readCursor(cursor: string): string {
  const [, key] = /^after ([\w.-]{1,130})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (key === undefined) throw invalidParams('cursor: it is none that was given here');
  return key;
}
