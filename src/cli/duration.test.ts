import { InvalidArgumentError } from 'commander';
import { describe, expect, it } from 'vitest';
import { durationUpTo, readDuration, showDuration } from './duration.ts';

describe('readDuration', () => {
  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['10m', 600_000],
    ['2h', 7_200_000],
    ['30d', 2_592_000_000],
  ])('reads %s', (text, ms) => {
    expect(readDuration(text)).toBe(ms);
  });

  it.each(['0s', '-1s', '30', 'abc', '1e99s', '10years', '31d', '1.5s', '', '9999999999d', ' 1s'])(
    'refuses %j',
    (text) => {
      expect(() => readDuration(text)).toThrow(InvalidArgumentError);
    },
  );
});

describe('durationUpTo', () => {
  it('reads up to as many days as it was made for', () => {
    expect(durationUpTo(366)('366d')).toBe(31_622_400_000);
    expect(() => durationUpTo(366)('367d')).toThrow('at most 366d');
  });
});

describe('showDuration', () => {
  it.each([
    [12, '12 ms'],
    [1500, '1.5 s'],
    [600_000, '10 min'],
    [10_800_000, '3 h'],
    [604_800_000, '7 days'],
  ])('shows %d ms as %s', (ms, shown) => {
    expect(showDuration(ms)).toBe(shown);
  });
});
