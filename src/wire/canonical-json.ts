import canonicalize from 'canonicalize';

/** RFC 8785. Throws on what JSON cannot say: NaN, lone surrogates, BigInt. */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('not a JSON value');
  return text;
}
