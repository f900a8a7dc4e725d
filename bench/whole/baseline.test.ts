import { describe, expect, it } from 'vitest';
import type { Ratio } from '../harness/report.ts';
import { asBaseline, compareRatios, makeBaseline, toleranceOf } from './baseline.ts';
import { asWholeReport, remarksOn } from './whole-report.ts';

const SOURCE = { takenAt: '2026-01-01T00:00:00.000Z', machine: 'a machine' };
const time = (value: number): Ratio => ({ id: 'round-trip/128/sallyport-read/time-to-raw', value, better: 'lower' });
const calls = (value: number): Ratio => ({ id: 'embedded/128/calls-to-bullmq', value, better: 'higher' });
const BASELINE = makeBaseline(SOURCE, [time(2), calls(4)]);
const standings = (now: readonly Ratio[]): string[] => compareRatios(BASELINE, now).map(({ standing }) => standing);

describe('a comparison with the baseline', () => {
  it('calls a ratio worse only beyond its tolerance, whichever way it counts', () => {
    expect(standings([time(2 * 1.24), calls(4 / 1.34)])).toEqual(['same', 'same']);
    expect(standings([time(2 * 1.26), calls(4 / 1.36)])).toEqual(['worse', 'worse']);
    expect(standings([time(2 / 1.26), calls(4 * 1.36)])).toEqual(['better', 'better']);
  });

  it('names ratios that are new and those that were not measured', () => {
    const added: Ratio = { id: 'mcp/1/sallyport-redis/time-to-direct', value: 2, better: 'lower' };
    expect(standings([time(2), added])).toEqual(['same', 'gone', 'new']);
  });

  it('takes the tolerance that is written beside a ratio before the usual one', () => {
    const strict = { ...BASELINE, ratios: { [time(2).id]: { value: 2, better: 'lower', tolerance: 0.05 } } } as const;
    expect(compareRatios(strict, [time(2.2)])[0]!.standing).toBe('worse');
    expect(toleranceOf('something-else/x')).toBe(0.35);
    expect(makeBaseline(SOURCE, [time(3)], strict).ratios[time(3).id]).toEqual({
      value: 3,
      better: 'lower',
      tolerance: 0.05,
    });
  });

  it('refuses files that are no baseline', () => {
    expect(asBaseline(JSON.parse(JSON.stringify(BASELINE)))).toEqual(BASELINE);
    for (const bad of [
      null,
      {},
      { version: 2, ratios: {} },
      { version: 1, ratios: { a: { value: 0, better: 'lower' } } },
    ])
      expect(() => asBaseline(bad)).toThrow(/baseline|ratio a/);
  });
});

describe('a report of all benches', () => {
  it('of another version is refused, and one of a single bench is read as a whole', () => {
    const single = {
      bench: 'a',
      command: 'npm run bench -- a',
      notes: [],
      tables: [
        { id: 't', title: 't', of: 'x', columns: [{ title: 'ms', digits: 0 }], rows: [{ label: 'r', values: [1] }] },
      ],
      ratios: [],
    };
    expect(asWholeReport(single).benches).toEqual([single]);
    expect(() => asWholeReport({ version: 2, benches: [single] })).toThrow('version 2');
    expect(() => asWholeReport({ version: 1, benches: [{}] })).toThrow('no report of a bench');
  });

  it('says that it was quick, or that the machine was busy', () => {
    const load = { before: 0.1, after: 3 };
    expect(remarksOn({ quick: false, load })).toEqual([]);
    expect(remarksOn({ quick: true, load })).toHaveLength(1);
    expect(remarksOn({ quick: false, load: { before: 2, after: 0 } })[0]).toContain('loaded machine');
  });
});
