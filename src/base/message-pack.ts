import { Packr } from 'msgpackr';

/** Plain MessagePack without extensions, so that any reader and the store's scripts can decode it. */
const packr = new Packr({ useRecords: false, moreTypes: false, encodeUndefinedAsNil: false, int64AsType: 'number' });

export function encode(value: unknown): Uint8Array {
  return packr.pack(value);
}

export function decode(bytes: Uint8Array): unknown {
  return packr.unpack(bytes);
}

/** Decodes several values that were written one after the other. */
export function decodeAll(bytes: Uint8Array): unknown[] {
  return packr.unpackMultiple(bytes) as unknown[];
}
