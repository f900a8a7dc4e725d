/**
 * A word as the index holds it: with its scope in front, so that no search can reach, or even be slowed down by, the words of
 * another scope. ASCII letters and digits only, so that the tokenizer takes it as one.
 */
export function wordToken(scope: number, collection: string, term: string): string {
  const word = /^[a-z0-9]+$/.test(term) ? `a${term}` : `h${Buffer.from(term).toString('hex')}`;
  return `${scope}x${Buffer.from(collection).toString('hex')}x${word}`;
}
