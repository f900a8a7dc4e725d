/** What events contain about a value: its kind and its size. Never the value, never the name of a key. */
export type ValueSummary =
  | { readonly kind: 'null' | 'undefined' | 'boolean' | 'number' | 'other' }
  | { readonly kind: 'string' | 'array'; readonly length: number }
  /** `bytes` is the size of the canonical text in UTF-8, present if that text was at hand. */
  | { readonly kind: 'object'; readonly bytes?: number };

/**
 * Reads only the type of the value and, for an array, its length. Keys are not listed and no getter is invoked, because in a hostile object
 * (a proxy) that could run foreign code. `canonicalText` is the canonical text of the value, if there is one already.
 */
export function summariseValue(value: unknown, canonicalText?: string): ValueSummary {
  if (value === null) return { kind: 'null' };
  switch (typeof value) {
    case 'undefined':
    case 'boolean':
    case 'number':
      return { kind: typeof value as 'undefined' | 'boolean' | 'number' };
    case 'string':
      return { kind: 'string', length: value.length };
    case 'object': {
      const length = lengthOfArray(value);
      if (length !== undefined) return { kind: 'array', length };
      return canonicalText === undefined
        ? { kind: 'object' }
        : { kind: 'object', bytes: Buffer.byteLength(canonicalText) };
    }
    default:
      return { kind: 'other' };
  }
}

/**
 * The length of an array, else undefined. The length of a proxy comes from foreign code, so it is checked. A revoked proxy throws when it
 * is read.
 */
function lengthOfArray(value: object): number | undefined {
  try {
    if (!Array.isArray(value)) return undefined;
    const length: unknown = Object.getOwnPropertyDescriptor(value, 'length')?.value;
    return typeof length === 'number' && Number.isSafeInteger(length) && length >= 0 ? length : undefined;
  } catch {
    return undefined;
  }
}
