/** What events say of a value: what kind it is and how large. Never the value, never the name of a key. */
export type ValueSummary =
  | { readonly kind: 'null' | 'undefined' | 'boolean' | 'number' | 'other' }
  | { readonly kind: 'string' | 'array'; readonly length: number }
  /** Bytes of its canonical text in UTF-8, where that was at hand. */
  | { readonly kind: 'object'; readonly bytes?: number };

/**
 * Looks at nothing but the type and, of an array, its length: keys are not listed and no getter is invoked, so that an object that
 * fights back is an `object` like any other. `canonicalText` is what the value was written as, if it was.
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

/** Of a proxy of an array even the length is somebody's code; a revoked one throws when it is looked at. */
function lengthOfArray(value: object): number | undefined {
  try {
    if (!Array.isArray(value)) return undefined;
    const length: unknown = Object.getOwnPropertyDescriptor(value, 'length')?.value;
    return typeof length === 'number' && Number.isSafeInteger(length) && length >= 0 ? length : undefined;
  } catch {
    return undefined;
  }
}
