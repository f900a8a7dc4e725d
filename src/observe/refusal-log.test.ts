import { describe, expect, it } from 'vitest';
import { errorOutcome } from '../domain/errors/errors.ts';
import { createRefusalLog } from './refusal-log.ts';

function staged(burst: number) {
  const lines: object[] = [];
  const clock = { now: 0 };
  const log = createRefusalLog({ warn: (facts) => void lines.push(facts) }, { burst, everyMs: 1000 }, () => clock.now);
  const refuse = (outcome = errorOutcome('SESSION_UNKNOWN', {}), tool = 'a.b') =>
    log.note({ session: 's', tool, outcome });
  return { lines, clock, log, refuse };
}

describe('the refusal log', () => {
  it('says what was refused and why, and nothing of the arguments', () => {
    const { lines, refuse } = staged(5);
    refuse(errorOutcome('ARGUMENTS_INVALID', { tool: 'a.b', problems: ['secret'] }), 'x'.repeat(500));
    expect(lines).toEqual([
      { stage: 'accept', session: 's', tool: 'x'.repeat(100), outcome: 'invalid', code: 'ARGUMENTS_INVALID' },
    ]);
  });

  it('writes no more of one code than its rate allows, and how many it left out', () => {
    const { lines, clock, log, refuse } = staged(3);
    for (let count = 0; count < 1000; count += 1) refuse();
    expect(lines).toHaveLength(3);
    refuse(errorOutcome('OVERLOADED', { what: 'calls', retryAfterMs: 1 }));
    expect(lines).toHaveLength(4);
    clock.now = 1500;
    refuse();
    refuse();
    expect(lines).toHaveLength(5);
    expect(lines.at(-1)).toMatchObject({ code: 'SESSION_UNKNOWN', suppressed: 997 });
    log.close();
    expect(lines.at(-1)).toEqual({ stage: 'accept', code: 'SESSION_UNKNOWN', suppressed: 1 });
  });
});
