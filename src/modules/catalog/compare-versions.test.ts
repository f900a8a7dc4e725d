import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareVersions } from './compare-versions.ts';

describe('compareVersions', () => {
  it.each([
    ['1.0.0', '1.0.1'],
    ['1.9.0', '1.10.0'],
    ['0.9.9', '1'],
    ['1.0.0-alpha', '1.0.0'],
    ['1.0.0-alpha', '1.0.0-alpha.1'],
    ['1.0.0-alpha.9', '1.0.0-alpha.10'],
    ['1.0.0-1', '1.0.0-alpha'],
    ['v1.2.3', '1.2.4'],
    ['2026-01-01', '2026'],
    ['99999999999999999998', '99999999999999999999'],
  ])('puts %s below %s', (lower, higher) => {
    expect(compareVersions(lower, higher)).toBe(-1);
    expect(compareVersions(higher, lower)).toBe(1);
  });

  it.each([
    ['1', '1.0.0'],
    ['v1.0', '1.0'],
    ['1.0.0+build.1', '1.0.0+build.2'],
    ['1.0.0-rc.1', '1.0.0-rc.1'],
  ])('takes %s and %s for the same', (a, b) => {
    expect(compareVersions(a, b)).toBe(0);
  });

  it('is an order: what is below stays below', () => {
    const version = fc.stringMatching(/^v?\d{1,3}(\.\d{1,3}){0,3}(-[a-z0-9]{1,3}(\.[a-z0-9]{1,3}){0,2})?$/);
    fc.assert(
      fc.property(version, version, version, (a, b, c) => {
        expect(compareVersions(a, b)).toBe(0 - compareVersions(b, a));
        fc.pre(compareVersions(a, b) <= 0 && compareVersions(b, c) <= 0);
        expect(compareVersions(a, c)).toBeLessThanOrEqual(0);
      }),
    );
  });
});
