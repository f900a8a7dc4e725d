import { expect, test } from 'vitest';
import { showDuration } from './show-time.ts';

test('a run below a millisecond is shown in microseconds, and never as zero', () => {
  expect([0.01, 0.12, 0.9996, 1, 850].map(showDuration)).toEqual(['10 µs', '120 µs', '1 ms', '1 ms', '850 ms']);
});

test('two moments in the same millisecond are less than one apart', () => {
  expect(showDuration(0)).toBe('< 1 ms');
});
