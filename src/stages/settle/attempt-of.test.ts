import { describe, expect, it } from 'vitest';
import { sampleDeclaration, sampleDelivered, sampleDelivery } from '../../../test/support/sample-call.ts';
import { errorOutcome } from '../../domain/errors/errors.ts';
import { sessionEnded } from '../../domain/identity/session-ended.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { Delivery } from '../../domain/ports/call-requests.ts';
import { bodyDigest } from '../../domain/tool/digest.ts';
import { shortSignature } from '../../domain/call/history.ts';
import { attemptOf } from './attempt-of.ts';
import type { SettlementFacts } from './encode-audit.ts';

const OK: Outcome = { kind: 'ok', executed: 'yes', retryable: false, content: [{ kind: 'text', text: 'done' }] };
const SIGNATURE = /^[\w-]{8}$/;

function attempted(outcome: Outcome, delivery: Partial<Delivery> = {}, facts: SettlementFacts = {}) {
  const sample = sampleDelivery({ watched: false, ...delivery });
  return { sample, attempt: attemptOf(sampleDelivered(sample), outcome, facts) };
}

/** The facts of a call whose arguments the gate changed to `effective`. */
const rewritten = (effective: string): SettlementFacts => ({ gate: { effective } }) as SettlementFacts;

describe('attemptOf', () => {
  it('names run and session, and what came out', () => {
    const { sample, attempt } = attempted(OK, { watched: true });
    expect(attempt).toEqual({
      session: sample.session,
      run: sample.run,
      ending: 'ok',
      result: expect.stringMatching(SIGNATURE),
    });
  });

  it('has no result only for a call that is not watched, is ok and ran as it was sent', () => {
    expect(attempted(OK).attempt).not.toHaveProperty('result');
    expect(attempted(OK).attempt.ending).toBe('ok');
  });

  it.each<[string, Outcome, Partial<Delivery>, SettlementFacts, string]>([
    ['is watched', OK, { watched: true }, {}, 'ok'],
    [
      'went wrong',
      errorOutcome('TOOL_TIMED_OUT', { tool: 'x', afterMs: 1 }, { executed: 'unknown' }),
      {},
      {},
      'failed',
    ],
    ['was refused', errorOutcome('PERMISSION_DENIED', { tool: 'x' } as never), {}, {}, 'refused'],
    ['ran something else', OK, {}, rewritten('{"a":1}'), 'ok'],
  ])('has the result of a call that %s', (_, outcome, delivery, facts, ending) => {
    const { attempt } = attempted(outcome, delivery, facts);
    expect(attempt).toMatchObject({ ending, result: expect.stringMatching(SIGNATURE) });
  });

  it('distinguishes different results, and not equal ones', () => {
    const other: Outcome = { ...OK, content: [{ kind: 'text', text: 'another' }] };
    const resultOf = (outcome: Outcome) => attempted(outcome, { watched: true }).attempt.result;
    expect(resultOf(OK)).toBe(resultOf({ ...OK }));
    expect(resultOf(OK)).not.toBe(resultOf(other));
  });

  it('has the signature of what ran only where that was not what was sent', () => {
    const { sample, attempt } = attempted(OK, {}, rewritten('{"a":1}'));
    expect(attempt.effective).toBe(shortSignature(bodyDigest(sample.tool, '{"a":1}')));
    expect(attempted(OK, { watched: true }).attempt).not.toHaveProperty('effective');
  });

  it('has the cost of what ran, watched or not, and none of what did not', () => {
    const tool = sampleDeclaration({ cost: 2 });
    expect(attempted(OK, {}, { tool }).attempt.cost).toBe(2_000_000);
    expect(attempted({ ...OK, executed: 'no' }, {}, { tool }).attempt).not.toHaveProperty('cost');
    expect(attempted(OK).attempt).not.toHaveProperty('cost');
  });

  it('ends the run only when the loop was the reason', () => {
    const ended = errorOutcome('RUN_ENDED_BY_LOOP', { message: 'A loop ended this run.', restMs: 5000 } as never);
    expect(attempted(ended).attempt.endsRun).toEqual({ restMs: 5000 });
    expect(attempted(OK).attempt).not.toHaveProperty('endsRun');
    // A call that was queued when its run ended must not end a run that was opened since.
    expect(attempted(sessionEnded('run-ended')).attempt).not.toHaveProperty('endsRun');
    const byTool: Outcome = { ...ended, kind: 'failed', executed: 'yes' };
    expect(attempted(byTool).attempt).not.toHaveProperty('endsRun');
  });

  it('is ok or failed when a result cannot be compared, and the call ends as it would', () => {
    const unreadable = {
      ...OK,
      get content(): never {
        throw new Error('no');
      },
    };
    expect(attempted(unreadable, { watched: true }).attempt).toMatchObject({ ending: 'ok' });
  });

  it('never leaves an attempt open', () => {
    const { attempt } = attempted(errorOutcome('DEADLINE_PASSED', {}));
    expect(attempt.ending).toBe('refused');
  });
});
