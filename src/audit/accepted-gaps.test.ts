import { describe, expect, it } from 'vitest';
import type { ForeignStatement, GapStatement } from '../domain/audit/audit-record.ts';
import { skipAcceptedGaps, distinct, findLost } from './accepted-gaps.ts';

const gap = (from: number, to: number, more: Partial<GapStatement> = {}): GapStatement => ({
  kind: 'gap',
  at: 1,
  store: 's',
  lane: 0,
  from,
  to,
  reason: 'r',
  by: 'b',
  ...more,
});

describe('crossGaps', () => {
  it.each([
    ['no gap', 2, 3, [], 2],
    ['a gap of exactly that range', 2, 5, [gap(3, 4)], 4],
    ['two gaps one behind the other', 2, 7, [gap(5, 6), gap(3, 4)], 6],
    ['a gap that ends too early', 2, 6, [gap(3, 4)], 2],
    ['a gap that ends too late', 2, 5, [gap(3, 5)], 2],
    ['a gap that begins too early', 2, 5, [gap(2, 4)], 2],
    ['a gap that begins too late', 2, 5, [gap(4, 4)], 2],
  ])('%s', (_, sequence, found, gaps, reach) => {
    expect(skipAcceptedGaps(sequence, found, gaps)).toBe(reach);
  });
});

describe('findLost', () => {
  it.each([
    ['nothing is missing', 0, [], undefined],
    ['records are missing', 2, [], '2 records that the lane has counted are'],
    ['one is missing', 1, [], '1 record that the lane has counted is'],
    ['they were given up, and the lane was not drained since', 2, [gap(11, 12)], undefined],
    ['others were given up before', 2, [gap(3, 4)], '2 records that the lane has counted are'],
    ['some of another lane were given up', 2, [gap(11, 12, { lane: 1 })], '2 records that the lane has counted are'],
    ['only some were given up', 2, [gap(11, 11)], '1 record that the lane has counted is'],
  ])('%s', (_, missing, gaps, lost) => {
    const what = `${lost} neither in the trail nor on the way to it`;
    const problem = lost === undefined ? undefined : { store: 's', lane: 0, sequence: 11, what };
    expect(findLost([{ store: 's', lane: 0, sequence: 10, missing }], gaps)).toEqual(problem);
  });
});

it('a statement that was repeated after a crash counts once', () => {
  const found: ForeignStatement = {
    kind: 'foreign',
    at: 1,
    store: 's',
    lane: 0,
    after: 1,
    through: 2,
    elements: 1,
    bytes: 1,
    digest: 'd',
    positions: [2, 4],
    uncounted: 0,
  };
  const other = { ...found, positions: [5, 5] } as const;
  expect(distinct([found, { ...found, at: 2 }, other])).toEqual([{ ...found, at: 2 }, other]);
});
