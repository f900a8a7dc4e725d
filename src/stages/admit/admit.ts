import { ended, type Ending } from '../../domain/call/ending.ts';
import { errorOutcome } from '../../domain/errors/errors.ts';
import { sessionEnded } from '../../domain/identity/session-ended.ts';
import type { PolicyRecord } from '../../domain/policy/policy.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { RenewAnswer } from '../../domain/ports/call-requests.ts';
import type { DeliveredCall, Plane } from '../../domain/ports/plane.ts';
import type { AdmittedCall } from '../../domain/ports/staged-calls.ts';

type Needs = Pick<Plane, 'store' | 'policies' | 'settings'>;

/**
 * Decides whether a delivered call may go on. The worker already owns it; this checks that the snapshot in the delivery is still current.
 * If nothing was revoked since the call was accepted (same epoch) and the call was held only briefly, the store is not asked again.
 */
export function admit(delivered: DeliveredCall, needs: Needs): MaybePromise<AdmittedCall | Ending> {
  const { delivery, lane } = delivered;
  const recovered = delivery.recovered;
  if (recovered?.wasRunning === true && recovered.effect === 'unsafe') {
    return ended(errorOutcome('MAY_HAVE_RUN', { tool: delivery.tool }, { executed: 'unknown' }));
  }
  if (recovered?.cancelRequested === true) {
    return ended(errorOutcome('CALL_CANCELLED', {}, { executed: recovered.starts > 0 ? 'unknown' : 'no' }));
  }
  const heldMs = performance.now() - delivered.arrivedAt;
  const now = lane.now + heldMs;
  const mayTrustSnapshot =
    lane.epoch === delivery.epoch && heldMs <= needs.settings.trustSnapshotMs && now < delivery.sessionExpiresAt;
  return mayTrustSnapshot
    ? admitAt(delivered, { lane, now, checkedAt: delivered.arrivedAt }, needs)
    : recheck(delivered, needs);
}

/** What the store answered, and the earliest time at which it can have done so. */
type Checked = Pick<AdmittedCall, 'lane' | 'now' | 'checkedAt'>;

async function recheck(delivered: DeliveredCall, needs: Needs): Promise<AdmittedCall | Ending> {
  const { delivery } = delivered;
  const { lane, session, run } = delivery;
  const checkedAt = performance.now();
  const checked = await needs.store.recheckSessions({ lane, sessions: [{ session, run }] });
  const ending = checked.endings[0];
  if (ending !== undefined) return ended(sessionEnded(ending));
  // The lane's cancel sequence changed: a call that a worker holds was cancelled, perhaps this one. If it is this one, it must not start.
  if (checked.lane.cancelSequence !== delivered.lane.cancelSequence) {
    const [lease] = await needs.store.renewCalls({ lane, calls: [delivery] });
    const stopped = stoppedBy(lease);
    if (stopped !== undefined) return stopped;
  }
  return admitAt(delivered, { lane: checked.lane, now: checked.lane.now, checkedAt }, needs);
}

/**
 * Asks the store once more whether an admitted call may start: session, lease, cancellation and policy. The lease is checked too, because a
 * worker process that was suspended for longer than its lease has lost its calls, and the lane's epoch and cancel sequence do not show
 * that.
 */
export async function admitAgain(admitted: AdmittedCall, needs: Needs): Promise<AdmittedCall | Ending> {
  const { delivery } = admitted;
  const { lane, session, run } = delivery;
  const checkedAt = performance.now();
  const [checked, [lease]] = await Promise.all([
    needs.store.recheckSessions({ lane, sessions: [{ session, run }] }),
    needs.store.renewCalls({ lane, calls: [delivery] }),
  ]);
  const stopped = stoppedBy(lease);
  if (stopped !== undefined) return stopped;
  const ending = checked.endings[0];
  if (ending !== undefined) return ended(sessionEnded(ending));
  return admitAt(admitted, { lane: checked.lane, now: checked.lane.now, checkedAt }, needs);
}

function stoppedBy(lease: RenewAnswer | undefined): Ending | undefined {
  if (lease === 'cancel') return ended(errorOutcome('CALL_CANCELLED', {}));
  return lease === 'renewed' ? undefined : { kind: 'lost' };
}

function admitAt(delivered: DeliveredCall, checked: Checked, needs: Needs): MaybePromise<AdmittedCall | Ending> {
  if (checked.now >= delivered.delivery.deadline) return ended(errorOutcome('DEADLINE_PASSED', {}));
  const current = needs.policies.atLeast(checked.lane.policyVersion);
  return current instanceof Promise
    ? current.then((record) => admitUnder(record, delivered, checked))
    : admitUnder(current, delivered, checked);
}

function admitUnder(
  { version, policy }: PolicyRecord,
  { delivery, arrivedAt, signal, events }: DeliveredCall,
  { lane, now, checkedAt }: Checked,
): AdmittedCall {
  return {
    kind: 'admitted',
    delivery,
    lane,
    arrivedAt,
    signal,
    events,
    policy,
    policyVersion: version,
    now,
    checkedAt,
  };
}
