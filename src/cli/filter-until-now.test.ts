import { expect, it } from 'vitest';
import { AUDIT_LIMITS } from '../domain/audit/audit-record.ts';
import { filterUntilNow } from './filter-until-now.ts';

it('ends a little after the store\u2019s time, at every look anew, unless an end was given', async () => {
  let now = 1_000_000;
  const store = { now: async () => now };
  const given = { tool: 'desk.mail' };
  expect(await filterUntilNow(given, store)).toEqual({ ...given, to: now + AUDIT_LIMITS.aheadMs });
  now += 2 * 24 * 3_600_000;
  expect(await filterUntilNow(given, store)).toEqual({ ...given, to: now + AUDIT_LIMITS.aheadMs });
  expect(await filterUntilNow({ to: 5 }, store)).toEqual({ to: 5 });
});
