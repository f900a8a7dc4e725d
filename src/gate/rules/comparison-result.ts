import type { JsonValue } from '../../base/json.ts';

/**
 * The result of comparing one value. `missing`: there is no value to compare. `unclear`: there is a value, but of a kind that cannot be
 * compared, such as a list where an address was expected.
 */
export type ComparisonResult = 'holds' | 'fails' | 'missing' | 'unclear';

export type Compare = (value: JsonValue) => ComparisonResult;

/**
 * Whether a condition is met. An allow rule applies only to values that are present and understood. An ask or deny rule must not be escaped
 * by sending an unusual value, so a value that cannot be judged meets its condition, even if the comparison is negated with `not`.
 */
export function isMet(judgement: ComparisonResult, not: boolean, isAllow: boolean): boolean {
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

/** A comparison of texts. Models send null for what they leave out, so null counts as missing. */
export function ofText(judge: (text: string) => ComparisonResult): Compare {
  return (value) => (typeof value === 'string' ? judge(value) : value === null ? 'missing' : 'unclear');
}
