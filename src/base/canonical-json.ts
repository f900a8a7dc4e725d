import canonicalize from 'canonicalize';

/** Canonical JSON (RFC 8785). Throws on values that JSON cannot represent: NaN, lone surrogates, BigInt. */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('not a JSON value');
  return text;
}
