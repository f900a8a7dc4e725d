import { Packr } from 'msgpackr';

/** Plain MessagePack without extensions, so that any reader and the store's scripts understand it. */
const packr = new Packr({ useRecords: false, moreTypes: false, encodeUndefinedAsNil: false, int64AsType: 'number' });

export function encode(value: unknown): Uint8Array {
  return packr.pack(value);
}

export function decode(bytes: Uint8Array): unknown {
  return packr.unpack(bytes);
}

/** The first of several values written one after the other, and where it ends. */
export function decodeFirst(bytes: Uint8Array): { value: unknown; end: number } {
  let first: { value: unknown; end: number } | undefined;
  packr.unpackMultiple(bytes, (value: unknown, _start?: number, end?: number) => {
    first = { value, end: end ?? bytes.length };
    return false;
  });
  if (first === undefined) throw new TypeError('no MessagePack value');
  return first;
}

/** All of several values written one after the other. */
export function decodeAll(bytes: Uint8Array): unknown[] {
  return packr.unpackMultiple(bytes) as unknown[];
}
