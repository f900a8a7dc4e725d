import { expect, it } from 'vitest';
import { planeError } from './errors.ts';

it('an error about problems ends with one mark, also when the last problem asks a question', () => {
  const message = (problem: string): string =>
    planeError('POLICY_INVALID', { problems: ['a: wrong', problem] }).message;
  expect(message('b: unknown key')).toBe('The policy was not accepted: a: wrong; b: unknown key.');
  expect(message('b: unknown key, did you mean "c"?')).toMatch(/did you mean "c"\?$/);
});
