const MAX_DEPTH = 80;

/**
 * Looks a MessagePack body over before it is decoded. The sender may be hostile tool code: extension types would make the
 * decoder build other things than data, and a length may promise far more than there is. Returns the problem.
 */
export function findMessagePackProblem(bytes: Uint8Array): string | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const end = skipValue(view, 0, 0);
    return end === view.byteLength ? undefined : 'trailing bytes';
  } catch (error) {
    return error instanceof RangeError ? error.message : 'unreadable';
  }
}

function skipValue(view: DataView, at: number, depth: number): number {
  if (depth > MAX_DEPTH) throw new RangeError('nested too deep');
  const token = view.getUint8(at);
  const next = at + 1;
  if (token <= 0x7f || token >= 0xe0) return next;
  if (token <= 0x8f) return skipItems(view, next, 2 * (token & 0x0f), depth);
  if (token <= 0x9f) return skipItems(view, next, token & 0x0f, depth);
  if (token <= 0xbf) return skipBytes(view, next, token & 0x1f);
  return skipLong(view, token, next, depth);
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

function skipLong(view: DataView, token: number, next: number, depth: number): number {
  const fixed = FIXED_BYTES[token];
  if (fixed !== undefined) return skipBytes(view, next, fixed);
  switch (token) {
    case 0xc4:
    case 0xd9:
      return skipBytes(view, next + 1, view.getUint8(next));
    case 0xc5:
    case 0xda:
      return skipBytes(view, next + 2, view.getUint16(next));
    case 0xc6:
    case 0xdb:
      return skipBytes(view, next + 4, view.getUint32(next));
    case 0xdc:
      return skipItems(view, next + 2, view.getUint16(next), depth);
    case 0xdd:
      return skipItems(view, next + 4, view.getUint32(next), depth);
    case 0xde:
      return skipItems(view, next + 2, 2 * view.getUint16(next), depth);
    case 0xdf:
      return skipItems(view, next + 4, 2 * view.getUint32(next), depth);
    default:
      throw new RangeError(`a value of type 0x${token.toString(16)}`);
  }
}

function skipBytes(view: DataView, at: number, count: number): number {
  if (at + count > view.byteLength) throw new RangeError('cut short');
  return at + count;
}

function skipItems(view: DataView, at: number, count: number, depth: number): number {
  // Each item has at least one byte, so a false count is refused before anything is made for it.
  if (at + count > view.byteLength) throw new RangeError('cut short');
  let position = at;
  for (let index = 0; index < count; index += 1) position = skipValue(view, position, depth + 1);
  return position;
}
