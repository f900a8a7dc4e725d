import { describe, expect, test } from 'vitest';
import { moveCell, type Place } from './move-cell.ts';

const size = { rows: 100, columns: 10, page: 12 };
const press = (from: Place, key: string, ctrlKey = false): Place | undefined =>
  moveCell(from, { key, ctrlKey, metaKey: false }, size);

describe('moveCell', () => {
  test('arrows move by one and stop at the edges', () => {
    expect(press({ row: 5, column: 5 }, 'ArrowUp')).toEqual({ row: 4, column: 5 });
    expect(press({ row: 5, column: 5 }, 'ArrowRight')).toEqual({ row: 5, column: 6 });
    expect(press({ row: 0, column: 0 }, 'ArrowUp')).toEqual({ row: 0, column: 0 });
    expect(press({ row: 99, column: 9 }, 'ArrowDown')).toEqual({ row: 99, column: 9 });
    expect(press({ row: 99, column: 9 }, 'ArrowRight')).toEqual({ row: 99, column: 9 });
    expect(press({ row: 0, column: 0 }, 'ArrowLeft')).toEqual({ row: 0, column: 0 });
  });

  test('Home and End stay in the row, with Ctrl they reach the corners', () => {
    expect(press({ row: 5, column: 5 }, 'Home')).toEqual({ row: 5, column: 0 });
    expect(press({ row: 5, column: 5 }, 'End')).toEqual({ row: 5, column: 9 });
    expect(press({ row: 5, column: 5 }, 'Home', true)).toEqual({ row: 0, column: 0 });
    expect(press({ row: 5, column: 5 }, 'End', true)).toEqual({ row: 99, column: 9 });
  });

  test('pages are as long as what is seen', () => {
    expect(press({ row: 5, column: 5 }, 'PageDown')).toEqual({ row: 17, column: 5 });
    expect(press({ row: 5, column: 5 }, 'PageUp')).toEqual({ row: 0, column: 5 });
  });

  test('other keys are left to the page', () => {
    expect(press({ row: 5, column: 5 }, 'Tab')).toBeUndefined();
    expect(press({ row: 5, column: 5 }, 'a')).toBeUndefined();
  });
});
