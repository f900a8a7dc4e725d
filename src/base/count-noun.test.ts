import { expect, test } from 'vitest';
import { countNoun } from './count-noun.ts';

test.each([
  [0, '0 rules'],
  [1, '1 rule'],
  [2, '2 rules'],
])('countNoun of %i is %s', (count, text) => {
  expect(countNoun(count, 'rule')).toBe(text);
});
