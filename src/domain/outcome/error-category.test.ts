import { expect, it } from 'vitest';
import { errorOfOutcome, isErrorCategory } from './error-category.ts';
import { errorOutcome } from '../errors/errors.ts';
import { OUTCOME_KINDS, type Outcome } from './outcome.ts';

const FAILED = errorOutcome('TOOL_FAILED', { message: 'secret' }, { executed: 'yes' });
const of = (kind: Outcome['kind']): Outcome => ({ kind, executed: 'no', retryable: false, content: [] });

it('errorOfOutcome has a category for every outcome but ok', () => {
  const categories = OUTCOME_KINDS.map((kind) => errorOfOutcome(of(kind))?.category);
  expect(categories[0]).toBeUndefined();
  expect(categories.slice(1).every(isErrorCategory)).toBe(true);
});

it.each([
  ['denied', 'permission', false],
  ['blocked', 'blocked', false],
  ['timed-out', 'timeout', true],
  ['expired', 'timeout', true],
  ['unknown-tool', 'not_found', false],
  ['overloaded', 'overloaded', true],
] as const)('errorOfOutcome says of %s that it is %s', (kind, category, retryable) => {
  expect(errorOfOutcome(of(kind))).toStrictEqual({ category, retryable });
});

it('errorOfOutcome has the code of the plane and never that of the tool', () => {
  expect(errorOfOutcome(FAILED)).toStrictEqual({ category: 'reported', retryable: false, code: 'TOOL_FAILED' });
  const forged = { ...FAILED, error: { code: 'SECRET_CODE', message: 'x' } };
  expect(errorOfOutcome(forged)).toStrictEqual({ category: 'reported', retryable: false });
});

it('errorOfOutcome believes what the failure of the tool showed, and only of a failure', () => {
  const fault = { category: 'rate_limited', status: 429 } as const;
  expect(errorOfOutcome(FAILED, fault)).toMatchObject({ category: 'rate_limited', retryable: true, status: 429 });
  expect(errorOfOutcome(errorOutcome('TOOL_THREW', { tool: 'a.b', type: 'E' }), fault)).toMatchObject(fault);
  expect(errorOfOutcome(errorOutcome('TOOL_DENIED', { message: 'no' }), fault)).toMatchObject({
    category: 'permission',
    status: 429,
  });
  expect(errorOfOutcome(of('timed-out'), fault)).toMatchObject({ category: 'timeout' });
});

it('errorOfOutcome distinguishes an unusable result from a tool that failed', () => {
  expect(errorOfOutcome(errorOutcome('RESULT_INVALID', { tool: 'a.b', problems: [] }))?.category).toBe(
    'invalid_result',
  );
});
