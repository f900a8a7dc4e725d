import { describe, expect, test } from 'vitest';
import { placeProblems, pointersOf, toCondition } from './conditions.ts';

describe('conditions of a grant', () => {
  test('begin with the arguments that were asked about', () => {
    expect(pointersOf('{"to": "a@b.c", "a/b": 5, "n": "12"}')).toEqual([
      { at: '/to', comparison: 'equals', value: 'a@b.c' },
      { at: '/a~1b', comparison: 'equals', value: '5' },
      { at: '/n', comparison: 'equals', value: '"12"' },
    ]);
    expect(pointersOf('{"cut')).toEqual([]);
  });

  test('are sent as the API takes them: numbers and lists are read, text stays text', () => {
    const sent = (comparison: 'equals' | 'in' | 'pattern' | 'range', value: string): unknown =>
      toCondition({ at: '/x', comparison, value });
    expect(sent('equals', '5')).toEqual({ at: '/x', equals: 5 });
    expect(sent('equals', 'five')).toEqual({ at: '/x', equals: 'five' });
    expect(sent('in', 'a, b')).toEqual({ at: '/x', in: ['a', 'b'] });
    expect(sent('pattern', '12')).toEqual({ at: '/x', pattern: '12' });
    expect(sent('range', '{"max": 9}')).toEqual({ at: '/x', range: { max: 9 } });
  });

  test('have what the gateway says of each beside it', () => {
    const { byRow, rest } = placeProblems([
      '1.at: expected a pointer',
      '1.glob: too long: cut it',
      'json.grant.uses: no',
    ]);
    expect([...byRow]).toEqual([[1, 'expected a pointer; too long: cut it']]);
    expect(rest).toEqual(['json.grant.uses: no']);
  });
});
