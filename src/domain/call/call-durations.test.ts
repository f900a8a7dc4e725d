import { expect, it } from 'vitest';
import { callDurations } from './call-durations.ts';

const CALL = { acceptedAt: 1000, settledAt: 9000, durationMs: 500, executed: 'yes' };

it('the total is from acceptance to the outcome; the run leaves out waiting and the gate', () => {
  expect(callDurations(CALL)).toStrictEqual({ totalMs: 8000, ranMs: 500 });
  expect(callDurations({ ...CALL, gateMs: 400 })).toStrictEqual({ totalMs: 8000, ranMs: 100 });
});

it('the run is never longer than the whole, although the store counts whole milliseconds and the worker parts of them', () => {
  const quick = { acceptedAt: 617, settledAt: 620, executed: 'yes' };
  expect(callDurations({ ...quick, durationMs: 3.6 })).toStrictEqual({ totalMs: 3.6, ranMs: 3.6 });
  expect(callDurations({ ...quick, settledAt: 600, durationMs: 3.6 })).toStrictEqual({ totalMs: 3.6, ranMs: 3.6 });
});

it('a call that did not run has no run, and one that has not ended has no total', () => {
  expect(callDurations({ ...CALL, executed: 'no' })).toStrictEqual({ totalMs: 8000 });
  expect(callDurations({ acceptedAt: 1000 })).toStrictEqual({});
  expect(callDurations({ settledAt: 1000, durationMs: 5, executed: 'unknown' })).toStrictEqual({ ranMs: 5 });
});
