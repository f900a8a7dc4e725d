import { expect, it } from 'vitest';
import { belongsTo } from './belongs-to.ts';

it('a later page belongs to the first if its agents and its policy are the same', () => {
  const first = { agents: ['reader', 'writer'], policyVersion: 3 };
  expect(belongsTo(first, { agents: ['reader', 'writer'], policyVersion: 3 })).toBe(true);
  expect(belongsTo(first, { agents: ['writer', 'reader'], policyVersion: 3 })).toBe(false);
  expect(belongsTo(first, { agents: ['reader', 'writer', 'clerk'], policyVersion: 3 })).toBe(false);
  expect(belongsTo(first, { agents: ['reader', 'writer'], policyVersion: 4 })).toBe(false);
});
