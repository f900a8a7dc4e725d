import { expect, it } from 'vitest';
import { describeCondition, parseCondition } from './incarnation-record.ts';

it.each([
  'no JSON',
  'null',
  '[]',
  '{"kind":"other"}',
  '{"kind":"restored","madeAt":{}}',
  '{"kind":"older","lane":0}',
  '{"kind":"adopting","before":{}}',
  '{"kind":"adopting","before":'.repeat(50_000) + '{"kind":"restoring"}' + '}'.repeat(50_000),
])('a condition that was overwritten with %.40s is unreadable, and no error', (text) => {
  expect(parseCondition(text)).toEqual({ kind: 'unreadable' });
  expect(describeCondition({ kind: 'unreadable' })).toContain('overwritten');
});

it.each([
  { kind: 'restoring' },
  { kind: 'restored', madeAt: '2026-11-17' },
  { kind: 'older', lane: 0, seen: 2, found: 1 },
  { kind: 'adopting', before: { kind: 'restoring' } },
])('a condition of kind $kind is what was written', (condition) => {
  expect(parseCondition(JSON.stringify(condition))).toEqual(condition);
});
