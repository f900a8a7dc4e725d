import { planeError } from '../../domain/errors/errors.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { sha256 } from '../../base/sha256.ts';

const CHECK_LENGTH = 16;

/**
 * Encodes the place where a list continues. The cursor includes a checksum over the list and its filters: if a client changed a cursor, or
 * used it for another list, entries would be missing. This is not a protection: a client that may read the list may read all of it.
 */
export function writeCursor(list: string, filters: object, place: readonly (string | number)[]): string {
  const text = JSON.stringify(place);
  return Buffer.from(`${checkOf(list, filters, text)}${text}`).toString('base64url');
}

/** Decodes a cursor. Throws PARAMETER_INVALID if it was not written for this list and these filters. */
export function readCursor(list: string, filters: object, cursor: string): readonly (string | number)[] {
  const decoded = Buffer.from(cursor, 'base64url').toString('utf8');
  const [check, text] = [decoded.slice(0, CHECK_LENGTH), decoded.slice(CHECK_LENGTH)];
  const isOwn = check === checkOf(list, filters, text) && Buffer.from(decoded).toString('base64url') === cursor;
  if (!isOwn)
    throw planeError('PARAMETER_INVALID', { problems: ['query.cursor: expected the `next` of an earlier page'] });
  return JSON.parse(text) as (string | number)[];
}

function checkOf(list: string, filters: object, text: string): string {
  const shown = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined));
  return sha256(`${list}\n${canonicalJson(shown)}\n${text}`).slice(0, CHECK_LENGTH);
}

/** Pages a list that the store returns from its start, up to a count. The cursor says how many entries were already shown. */
export async function pageByCount<Item>(
  list: string,
  filters: object,
  { cursor, limit }: { readonly cursor?: string | undefined; readonly limit: number },
  read: (count: number) => Promise<readonly Item[]>,
): Promise<{ items: Item[]; next?: string }> {
  const shown = cursor === undefined ? 0 : Number(readCursor(list, filters, cursor)[0]);
  const items = await read(shown + limit + 1);
  const page = items.slice(shown, shown + limit);
  if (items.length <= shown + limit) return { items: page };
  return { items: page, next: writeCursor(list, filters, [shown + limit]) };
}
