import type { JsonValue } from '../../domain/json.ts';

/**
 * What one comparison says to one value. `missing`: there is nothing to compare. `unclear`: there is something, but not of a kind
 * that can be compared, such as a list where an address was expected.
 */
export type Judgement = 'holds' | 'fails' | 'missing' | 'unclear';

export type Judge = (value: JsonValue) => Judgement;

/**
 * Whether a condition is met. An allow rule vouches only for what is there and understood. An ask or deny rule must not be escaped by
 * sending something odd: what cannot be judged meets it, also when the comparison is turned round with `not`.
 */
export function isMet(judgement: Judgement, not: boolean, isAllow: boolean): boolean {
  switch (judgement) {
    case 'holds':
      return !not;
    case 'fails':
      return not;
    case 'missing':
      return !isAllow && not;
    case 'unclear':
      return !isAllow;
  }
}

/** A comparison of texts. Models send null for what they leave out, so it is nothing to compare. */
export function ofText(judge: (text: string) => Judgement): Judge {
  return (value) => (typeof value === 'string' ? judge(value) : value === null ? 'missing' : 'unclear');
}
