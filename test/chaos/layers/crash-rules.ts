import { expect } from 'vitest';
import type { CallId } from '../../../src/domain/identity/ids.ts';
import type { CallAnswer, SessionHandle } from '../../../src/exports/client.ts';
import { auditOf, recordOf } from '../../contract/observe.ts';
import { outcomeOf } from '../../plane/support/stage-plane.ts';
import type { CrashPlane, EffectClass } from './crash-plane.ts';

export interface MadeCall {
  readonly callId: CallId;
  readonly effect: EffectClass;
  readonly session: SessionHandle;
  readonly answering: Promise<CallAnswer>;
}

/** One death costs at most one additional start. */
const MAX_STARTS = 2;

/**
 * Checks what has to be true of a call after one death, whichever process died and wherever:
 * - the call has one outcome and one record of its end in the audit, and its waiter got the outcome that is in the record;
 * - a tool that may run twice ends `ok`, after one or two starts;
 * - an unsafe tool starts at most once. It is `indeterminate` only if its owner died, or lost its lease, after the start was requested
 *   and before the end was requested; then it has to be, unless the owner stayed alive. Otherwise it is `ok`, after exactly one start;
 * - if several questions were asked about it, exactly one was allowed.
 */
export async function expectRules(
  plane: CrashPlane,
  call: MadeCall,
  trace: readonly string[],
  who: 'worker' | 'store' | 'nobody',
): Promise<void> {
  const { callId, effect } = call;
  const outcome = await outcomeOf(plane, call.session, await call.answering);
  const record = await recordOf(plane.store, callId);
  expect(record.state).toBe('settled');
  const again = await plane.client.wait(call.session, callId, { waitMs: 60_000 });
  expect(again, 'the outcome when read again').toMatchObject({ kind: 'settled', outcome: { kind: outcome.kind } });
  const audit = await auditOf(plane.store, callId);
  const endings = audit.filter(({ event }) => ['call.settled', 'call.cancelled', 'call.expired'].includes(event));
  expect(
    endings.map(({ event }) => event),
    'ends in the audit',
  ).toEqual(['call.settled']);
  const starts = plane.effects().filter((line) => line.includes(callId)).length;

  if (effect === 'approval') {
    const decided = audit.filter(({ event }) => event === 'approval.decided');
    expect(decided, 'questions that were decided').toHaveLength(1);
  }
  if (effect === 'read' || effect === 'idempotent') {
    expect(outcome.kind).toBe('ok');
    expect(starts, 'starts').toBeGreaterThanOrEqual(1);
    expect(starts, 'starts').toBeLessThanOrEqual(MAX_STARTS);
    return;
  }
  // A live owner may have lost its lease while the store was away. Then its settle request had no effect.
  const inDoubt = asked(trace, 'startCall', callId) && (!asked(trace, 'settleCall', callId) || who === 'store');
  if (outcome.kind === 'indeterminate') {
    expect(inDoubt, 'it is in doubt').toBe(true);
    expect(outcome.executed).toBe('unknown');
    expect(starts, 'starts').toBeLessThanOrEqual(1);
    return;
  }
  expect({ kind: outcome.kind, starts, inDoubt: inDoubt && who === 'worker' }).toEqual({
    kind: 'ok',
    starts: 1,
    inDoubt: false,
  });
}

const asked = (trace: readonly string[], method: string, callId: CallId): boolean =>
  trace.includes(`before ${method} ${callId}`);
