import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { samplerOf } from './trace-options.ts';

const ids = Array.from({ length: 4000 }, () => randomBytes(16).toString('hex'));
const keptBy = (ratio: number): string[] => ids.filter(samplerOf(ratio));

describe('samplerOf', () => {
  it('keeps all, none, or about its part', () => {
    expect(keptBy(1)).toStrictEqual(ids);
    expect(keptBy(0)).toStrictEqual([]);
    // Ten standard deviations.
    expect(Math.abs(keptBy(0.25).length - 1000)).toBeLessThan(280);
  });

  it('decides by the id alone: who keeps less keeps a part of what others keep', () => {
    const more = new Set(keptBy(0.5));
    expect(keptBy(0.1).every((id) => more.has(id))).toBe(true);
  });
});
