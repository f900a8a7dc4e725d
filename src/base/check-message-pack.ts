import { isUtf8 } from 'node:buffer';

const MAX_DEPTH = 80;

/**
 * Checks a MessagePack body before it is decoded; returns the problem, or undefined. The sender may be hostile tool code. Extension types
 * would make the decoder build things other than data, and a stated length may be far larger than the body. With `strictText`, text that is
 * not UTF-8 is a problem too: a decoder would turn it into text that was never sent.
 */
export function findMessagePackProblem(
  bytes: Uint8Array,
  { strictText = false }: { readonly strictText?: boolean } = {},
): string | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const skipText = strictText ? skipStrictText : skipBytes;
  try {
    const end = skipValue(view, 0, 0, skipText);
    return end === view.byteLength ? undefined : 'trailing bytes';
  } catch (error) {
    return error instanceof RangeError ? error.message : 'unreadable';
  }
}

type Skip = typeof skipBytes;

function skipValue(view: DataView, at: number, depth: number, skipText: Skip): number {
  if (depth > MAX_DEPTH) throw new RangeError('nested too deep');
  const token = view.getUint8(at);
  const next = at + 1;
  if (token <= 0x7f || token >= 0xe0) return next;
  if (token <= 0x8f) return skipItems(view, next, 2 * (token & 0x0f), depth, skipText);
  if (token <= 0x9f) return skipItems(view, next, token & 0x0f, depth, skipText);
  if (token <= 0xbf) return skipText(view, next, token & 0x1f);
  return skipLong(view, token, next, depth, skipText);
}

const FIXED_BYTES: Readonly<Record<number, number>> = {
  0xc0: 0,
  0xc2: 0,
  0xc3: 0,
  0xca: 4,
  0xcb: 8,
  0xcc: 1,
  0xcd: 2,
  0xce: 4,
  0xcf: 8,
  0xd0: 1,
  0xd1: 2,
  0xd2: 4,
  0xd3: 8,
};

function skipLong(view: DataView, token: number, next: number, depth: number, skipText: Skip): number {
  const fixed = FIXED_BYTES[token];
  if (fixed !== undefined) return skipBytes(view, next, fixed);
  switch (token) {
    case 0xd9:
      return skipText(view, next + 1, view.getUint8(next));
    case 0xda:
      return skipText(view, next + 2, view.getUint16(next));
    case 0xdb:
      return skipText(view, next + 4, view.getUint32(next));
    case 0xc4:
      return skipBytes(view, next + 1, view.getUint8(next));
    case 0xc5:
      return skipBytes(view, next + 2, view.getUint16(next));
    case 0xc6:
      return skipBytes(view, next + 4, view.getUint32(next));
    case 0xdc:
      return skipItems(view, next + 2, view.getUint16(next), depth, skipText);
    case 0xdd:
      return skipItems(view, next + 4, view.getUint32(next), depth, skipText);
    case 0xde:
      return skipItems(view, next + 2, 2 * view.getUint16(next), depth, skipText);
    case 0xdf:
      return skipItems(view, next + 4, 2 * view.getUint32(next), depth, skipText);
    default:
      throw new RangeError(`a value of type 0x${token.toString(16)}`);
  }
}

function skipBytes(view: DataView, at: number, count: number): number {
  if (at + count > view.byteLength) throw new RangeError('cut short');
  return at + count;
}

function skipStrictText(view: DataView, at: number, count: number): number {
  const end = skipBytes(view, at, count);
  if (!isUtf8(new Uint8Array(view.buffer, view.byteOffset + at, count))) throw new RangeError('text that is no UTF-8');
  return end;
}

function skipItems(view: DataView, at: number, count: number, depth: number, skipText: Skip): number {
  // Each item has at least one byte, so a false count is refused before anything is allocated for it.
  if (at + count > view.byteLength) throw new RangeError('cut short');
  let position = at;
  for (let index = 0; index < count; index += 1) position = skipValue(view, position, depth + 1, skipText);
  return position;
}
