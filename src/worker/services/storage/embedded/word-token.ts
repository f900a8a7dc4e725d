/**
 * A word as the index holds it. It starts with the number of its scope, so that no search can reach the words of another scope, or be slowed down
 * by them. It has only ASCII letters and digits, so that the tokenizer takes it as one token.
 */
export function wordToken(scope: number, collection: string, term: string): string {
  const word = /^[a-z0-9]+$/.test(term) ? `a${term}` : `h${Buffer.from(term).toString('hex')}`;
  return `${scope}x${Buffer.from(collection).toString('hex')}x${word}`;
}
