import { describe, expect, it } from 'vitest';
import { APPROVAL_ERRORS } from '../../domain/errors/gate-errors.ts';
import { RESOLUTIONS } from '../../domain/policy/approval.ts';
import { APPROVAL_ENDINGS, endingOutcome, type ApprovalEnding } from './endings.ts';

/** Per ending: its resolution, the kind of the call's outcome, and `executed`. Written out, so that no row changes unnoticed. */
const EXPECTED: Record<ApprovalEnding, [resolution: string, kind: string | undefined, executed: string]> = {
  'allow-once': ['allow-once', undefined, 'by-the-tool'],
  'allow-always': ['allow-always', undefined, 'by-the-tool'],
  deny: ['deny', 'denied', 'no'],
  timeout: ['timeout', 'denied', 'no'],
  'caller-aborted': ['cancelled', 'cancelled', 'no'],
  'session-ended': ['cancelled', 'denied', 'no'],
  'no-route': ['cancelled', 'denied', 'no'],
  'immediate-decision': ['deny', 'denied', 'no'],
  'no-id': ['cancelled', 'denied', 'no'],
  'gateway-unavailable': ['cancelled', 'denied', 'no'],
  'storage-error': ['cancelled', 'denied', 'no'],
  'malformed-decision': ['cancelled', 'denied', 'no'],
  'already-decided': ['cancelled', 'denied', 'no'],
  mismatch: ['cancelled', 'denied', 'no'],
};
const ENDINGS = Object.keys(EXPECTED) as ApprovalEnding[];
const REFUSALS = ENDINGS.filter((ending) => EXPECTED[ending][1] !== undefined);

describe('the table of endings', () => {
  it.each(ENDINGS)('%s ends in one of the five resolutions, and as the issue says', (ending) => {
    const { resolution, executed } = APPROVAL_ENDINGS[ending];
    expect(RESOLUTIONS).toContain(resolution);
    expect([resolution, endingOutcome(ending)?.kind, executed]).toEqual(EXPECTED[ending]);
  });

  it('has no row that is not expected', () => {
    expect(Object.keys(APPROVAL_ENDINGS).sort()).toEqual([...ENDINGS].sort());
  });

  it.each(REFUSALS)(
    '%s says to the model that the call did not run, that this is final, and not to try again',
    (ending) => {
      const outcome = endingOutcome(ending, {
        tool: 'files.write',
        comment: 'no',
        reason: 'unattended',
        what: 'the tool',
      })!;
      expect(outcome).toMatchObject({
        executed: 'no',
        retryable: false,
        error: { code: APPROVAL_ENDINGS[ending].code },
      });
      expect(outcome.error!.message).toMatch(/did not run/);
      expect(outcome.error!.message).toMatch(/final/);
      expect(outcome.error!.message).toMatch(/do not try it again/);
      expect(outcome.content).toEqual([{ kind: 'text', text: outcome.error!.message }]);
    },
  );

  it('gives every ending a sentence of its own, and uses every code', () => {
    const outcomes = REFUSALS.map((ending) => endingOutcome(ending)!.error!);
    expect(new Set(outcomes.map(({ message }) => message)).size).toBe(REFUSALS.length);
    expect(outcomes.map(({ code }) => code).sort()).toEqual(Object.keys(APPROVAL_ERRORS).sort());
  });

  it('lets only the two kinds of yes go on', () => {
    expect(ENDINGS.filter((ending) => endingOutcome(ending) === undefined)).toEqual(['allow-once', 'allow-always']);
  });

  it('does not say that a call did not run if a lost worker may have run it', () => {
    expect(endingOutcome('deny', {}, { mayHaveRun: true })?.executed).toBe('unknown');
  });
});
