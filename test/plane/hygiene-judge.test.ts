import { describe, expect, it } from 'vitest';
import { judgeHygiene, nearest, printRows, startOf, type Rest } from './support/hygiene/judge-hygiene.ts';
import { patternOf } from './support/hygiene/sample-redis.ts';
import { createSample, type Sample } from './support/hygiene/sample.ts';

const MB = 1024 * 1024;

function sampleOf(counts: Record<string, string[]>): Sample {
  const sample = createSample();
  for (const [name, members] of Object.entries(counts)) sample.count(name, members.length, members);
  return sample;
}

const restsOf = (...counts: Record<string, string[]>[]): Rest[] =>
  counts.map((each, index) => {
    const sample = sampleOf(each);
    return { atMs: index * 60_000, counts: sample.counts, members: sample.members, sizes: new Map() };
  });

const sizesOf = (name: string, values: readonly number[]): Rest[] =>
  values.map((value, index) => ({
    atMs: index * 60_000,
    counts: new Map(),
    members: new Map(),
    sizes: new Map([[name, value * MB]]),
  }));

describe('the judge of a soak', () => {
  it('names what is left of a count that did not come back', () => {
    const rests = restsOf(
      { 'fds of dev': ['a', 'b'] },
      { 'fds of dev': ['a', 'b'] },
      { 'fds of dev': ['a', 'c', 'b', 'c'] },
    );
    const [row] = judgeHygiene(rests);
    expect(row).toMatchObject({ verdict: 'left over', start: 2, end: 4, left: ['c', 'c'] });
    expect(printRows([row!])).toContain('left over: fds of dev: 2, 2, 4');
  });

  it('sees what was not there at the start at all', () => {
    const [row] = judgeHygiene(restsOf({}, { 'redis keys: body:*': ['{x}:body:1'] }));
    expect(row).toMatchObject({ verdict: 'left over', start: 0, end: 1, left: ['{x}:body:1'] });
  });

  it('misses a process of the deployment, but not a key that is gone', () => {
    const before = { 'processes: worker-1': ['7'], 'redis keys: once:*': ['k'] };
    const rows = judgeHygiene(restsOf(before, {}));
    expect(rows.map(({ name, verdict }) => [name, verdict])).toEqual([
      ['processes: worker-1', 'missing'],
      ['redis keys: once:*', 'ok'],
    ]);
  });

  it('forgives a count that was seen where it had been at any moment of the rest', () => {
    const samples = [sampleOf({ timers: ['a', 'b'] }), sampleOf({ timers: ['a'] }), sampleOf({ timers: ['a', 'b'] })];
    expect(nearest(samples, new Map([['timers', 1]])).counts.get('timers')).toBe(1);
    expect(nearest([samples[0]!], new Map([['timers', 1]])).counts.get('timers')).toBe(2);
    expect(startOf(samples).get('timers')).toBe(1);
  });

  it.each([
    ['grows all the time', [100, 104, 108, 112, 116, 120, 124, 128, 132], 'grows'],
    ['grew only while it was warming up', [60, 80, 95, 100, 100, 101, 100, 101, 100], 'ok'],
    ['breathes', [100, 109, 101, 108, 100, 110, 102, 109, 101], 'ok'],
    ['has one peak at the end', [100, 100, 100, 100, 100, 100, 100, 100, 180], 'ok'],
    ['is one of too few rests', [100, 150, 200], 'not judged'],
  ])('takes a heap that %s for what it is', (_, values, verdict) => {
    expect(judgeHygiene(sizesOf('heap of gateway', values))[0]).toMatchObject({ verdict });
  });
});

describe('a key of Redis', () => {
  it.each([
    ['{sallyport:0}:reply:K3f', 'reply:*'],
    ['{sallyport:0}:pool:default', 'pool:default'],
    ['{sallyport:0}:calls', 'calls'],
    ['{sallyport}:worker:w1', 'worker:*'],
    ['elsewhere', 'elsewhere'],
  ])('%s is one of %s', (key, pattern) => {
    expect(patternOf(key)).toBe(pattern);
  });
});
