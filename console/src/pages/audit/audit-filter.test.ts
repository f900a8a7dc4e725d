import { describe, expect, test } from 'vitest';
import { filterOf, queryOf } from './audit-filter.ts';

describe('filterOf', () => {
  test('takes the conditions it knows and nothing else', () => {
    expect(filterOf({ tool: ' mail.send ', event: '', view: 'x', callId: '0.a.b' })).toEqual({
      tool: 'mail.send',
      callId: '0.a.b',
    });
  });
});

describe('queryOf', () => {
  test('asks with times in milliseconds', () => {
    const from = '2026-11-15T09:30';
    expect(queryOf({ from, tool: 'mail.send' })).toEqual({ from: new Date(from).getTime(), tool: 'mail.send' });
  });

  test('leaves out a time that is none', () => {
    expect(queryOf({ from: 'yesterday', to: '' })).toEqual({});
  });
});
