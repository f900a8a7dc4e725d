import { describe, expect, test } from 'vitest';
import clock from '../../examples/modules/clock/index.ts';
import { timeIn } from '../../examples/modules/clock/time-in.ts';
import type { Progress } from '../../src/domain/ports/tool-runner.ts';
import { refusalOf, runExample, valueOf } from './run-example.ts';

describe('clock.now', () => {
  test.each([
    ['UTC', '2026-03-29T00:30:00Z', '2026-03-29T00:30:00+00:00', 'Sunday'],
    ['Europe/Paris', '2026-03-29T00:59:59Z', '2026-03-29T01:59:59+01:00', 'Sunday'],
    ['Europe/Paris', '2026-03-29T01:00:00Z', '2026-03-29T03:00:00+02:00', 'Sunday'],
    ['Asia/Kathmandu', '2026-01-01T18:30:00Z', '2026-01-02T00:15:00+05:45', 'Friday'],
    ['America/St_Johns', '2026-01-01T02:00:00Z', '2025-12-31T22:30:00-03:30', 'Wednesday'],
  ])('in %s shows %s as %s', (timeZone, instant, local, weekday) => {
    expect(timeIn(timeZone, new Date(instant))).toMatchObject({ local, weekday, unixMs: Date.parse(instant) });
  });

  test('answers in UTC when no zone is named, in the form its output schema says', async () => {
    const value = await valueOf<{ local: string; unixMs: number }>(runExample(clock, 'now', {}));
    expect(Object.keys(value)).toEqual(['utc', 'local', 'weekday', 'timeZone', 'unixMs']);
    expect(Date.parse(value.local)).toBe(Math.floor(value.unixMs / 1000) * 1000);
  });

  test.each(['Mars/Olympus', '', '../etc', 'Europe/Paris\n'])('refuses the zone %j with a code', async (timeZone) => {
    expect(await refusalOf(runExample(clock, 'now', { timeZone }))).toBe('failed TIME_ZONE_UNKNOWN');
  });
});

describe('clock.sleep', () => {
  test('reports where it is, from nothing to all', async () => {
    const seen: Progress[] = [];
    const ending = runExample(clock, 'sleep', { ms: 30 }, { onProgress: (progress) => seen.push(progress) });
    expect(await valueOf(ending)).toEqual({ sleptMs: 30 });
    expect(seen[0]).toEqual({ done: 0, total: 30 });
  });

  test('ends when the call is aborted', async () => {
    const controller = new AbortController();
    const ending = runExample(
      clock,
      'sleep',
      { ms: 60_000 },
      { signal: controller.signal, onProgress: () => controller.abort() },
    );
    expect(await ending).toMatchObject({ kind: 'threw', type: 'AbortError' });
  });

  test.each([-1, 60_001, 1.5])('refuses %d ms', async (ms) => {
    expect(await refusalOf(runExample(clock, 'sleep', { ms }))).toBe('invalid-arguments');
  });
});
