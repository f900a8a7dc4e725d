import { describe, expect, test } from 'vitest';
import type { CallDetail } from '../api-types.ts';
import { reasonOf, repeats } from './say-once.ts';

describe('a sentence on the page of a call', () => {
  test('is left out where it was shown before, also when only its beginning was kept', () => {
    expect(repeats('The rule denies it.', ['The rule denies it.'])).toBe(true);
    expect(repeats('The rule deni…', ['The rule denies it.'])).toBe(true);
    expect(repeats('Not today.', ['A person denied it: Not today. It did not run.'])).toBe(true);
    expect(repeats('Another rule denies it.', ['The rule denies it.'])).toBe(false);
    expect(repeats('The rule denies it.', [])).toBe(false);
  });

  test('comes from the outcome while that is kept, and from the audit after that', () => {
    const audit = [{ outcome: 'denied', detail: 'The rule deni…' }];
    const call = { outcome: 'denied', code: 'RULE_DENIED' };
    const error = { code: 'RULE_DENIED', message: 'The rule denies it.', fix: 'Change it.' };
    const detailOf = (outcome?: object): CallDetail => ({ call, audit, outcome }) as unknown as CallDetail;
    expect(reasonOf(detailOf({ kind: 'denied', error }))).toBe(error);
    expect(reasonOf(detailOf())).toEqual({ message: 'The rule deni…', code: 'RULE_DENIED' });
  });
});
