import { invalidParams } from './protocol-problem.ts';

const PAGE = 500;
/** As long as a name is looked up in what was shown; a change is also told to whoever listens. */
const TTL_MS = 2000;

export interface Page<Item> {
  readonly items: readonly Item[];
  /** What the result has beside its items: where it goes on, how long it may be kept, and that it is for nobody else. */
  readonly more: { readonly nextCursor?: string; readonly ttlMs: number; readonly cacheScope: 'private' };
}

/** A list in the order of its keys. A cursor says after which key it goes on: it holds however the list has changed since. */
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
