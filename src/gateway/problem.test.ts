import { describe, expect, it } from 'vitest';
import { errorOutcome } from '../domain/errors/errors.ts';
import { problemOfOutcome } from './problem.ts';

describe('the detail of a problem', () => {
  it('escapes what is hidden in a name that the caller wrote, line breaks included', () => {
    const tool = 'desk.\u202Eecho\r\nall is well\u0007';
    const problem = problemOfOutcome(errorOutcome('TOOL_UNKNOWN', { tool, near: [] }));
    expect(problem.detail).toBe('There is no tool "desk.\\u{202e}echo\\u{d}\\u{a}all is well\\u{7}".');
    expect(problem.facts).toMatchObject({ tool });
  });
});
