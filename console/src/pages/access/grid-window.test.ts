import { describe, expect, test } from 'vitest';
import { offsetToShow, renderedIndexes, visibleSpan } from './grid-window.ts';

const axis = { offset: 0, length: 360, itemSize: 36, count: 2000 };

describe('visibleSpan', () => {
  test('covers what is seen and a little more, however long the list is', () => {
    expect(visibleSpan(axis)).toEqual({ first: 0, end: 14 });
    expect(visibleSpan({ ...axis, offset: 36_000 })).toEqual({ first: 996, end: 1014 });
  });

  test('ends with the list', () => {
    expect(visibleSpan({ ...axis, offset: 72_000 - 360 })).toEqual({ first: 1986, end: 2000 });
    expect(visibleSpan({ ...axis, count: 3 })).toEqual({ first: 0, end: 3 });
    expect(visibleSpan({ ...axis, count: 0 })).toEqual({ first: 0, end: 0 });
  });

  test('has nothing beyond a list that became shorter than its offset', () => {
    const { first, end } = visibleSpan({ ...axis, offset: 5000, count: 10 });
    expect(renderedIndexes({ first, end }, -1, 10)).toEqual([]);
  });
});

describe('renderedIndexes', () => {
  test('keeps the focused one, also when it was scrolled away', () => {
    expect(renderedIndexes({ first: 5, end: 8 }, 6, 100)).toEqual([5, 6, 7]);
    expect(renderedIndexes({ first: 5, end: 8 }, 1, 100)).toEqual([1, 5, 6, 7]);
    expect(renderedIndexes({ first: 5, end: 8 }, 90, 100)).toEqual([5, 6, 7, 90]);
  });

  test('does not invent one that is not there', () => {
    expect(renderedIndexes({ first: 0, end: 2 }, -1, 2)).toEqual([0, 1]);
    expect(renderedIndexes({ first: 0, end: 2 }, 2, 2)).toEqual([0, 1]);
  });
});

describe('offsetToShow', () => {
  test('moves no further than needed to show the whole item', () => {
    expect(offsetToShow(3, axis, 40)).toBe(0);
    expect(offsetToShow(9, axis, 40)).toBe(360 - 320);
    expect(offsetToShow(2, { ...axis, offset: 500 }, 40)).toBe(72);
  });
});
