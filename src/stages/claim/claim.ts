import { ended, type Ending } from '../../domain/ending.ts';
import { trouble } from '../../domain/errors.ts';
import { sessionEnded } from '../../domain/session-ended.ts';
import type { Policy, PolicyRecord } from '../../domain/policy.ts';
import type { Soon } from '../../domain/soon.ts';
import type { LaneState } from '../../ports/call-store.ts';
import type { DeliveredCall, Plane } from '../../ports/plane.ts';

/** A delivery that is ours, of a session that lives, under the policy of now. */
export interface ClaimedCall extends DeliveredCall {
  readonly kind: 'claimed';
  readonly policy: Policy;
  readonly policyVersion: number;
  /** Store time, carried on by the monotonic clock since the delivery. */
  readonly now: number;
}

type Needs = Pick<Plane, 'store' | 'policies' | 'settings'>;

/**
 * The delivery itself was the claim; here we make sure that its snapshot is still current. If nothing was revoked since accept
 * (same epoch) and it was held only for a moment, that needs no trip to the store.
 */
export function claim(delivered: DeliveredCall, needs: Needs): Soon<ClaimedCall | Ending> {
  const { delivery, lane } = delivered;
  const recovered = delivery.recovered;
  if (recovered?.wasRunning === true && recovered.effect === 'unsafe') {
    return ended(trouble('MAY_HAVE_RUN', { tool: delivery.tool }, { executed: 'unknown' }));
  }
  if (recovered?.cancelRequested === true) {
    return ended(trouble('CALL_CANCELLED', {}, { executed: recovered.starts > 0 ? 'unknown' : 'no' }));
  }
  const heldMs = performance.now() - delivered.arrivedAt;
  const now = lane.now + heldMs;
  const mayTrustSnapshot =
    lane.epoch === delivery.epoch && heldMs <= needs.settings.trustSnapshotMs && now < delivery.sessionExpiresAt;
  return mayTrustSnapshot ? claimAt(delivered, lane, now, needs) : recheck(delivered, needs);
}

async function recheck(delivered: DeliveredCall, needs: Needs): Promise<ClaimedCall | Ending> {
  const { delivery } = delivered;
  const { lane, session, run } = delivery;
  const checked = await needs.store.recheckSessions({ lane, sessions: [{ session, run }] });
  const ending = checked.endings[0];
  if (ending !== undefined) return ended(sessionEnded(ending));
  // Somebody cancelled a call that a worker holds, perhaps this one: nothing new may start then.
  if (checked.lane.cancelSequence !== delivered.lane.cancelSequence) {
    const [answer] = await needs.store.renewCalls({ lane, calls: [delivery] });
    if (answer === 'fenced') return { kind: 'lost' };
    if (answer === 'cancel') return ended(trouble('CALL_CANCELLED', {}));
  }
  return claimAt(delivered, checked.lane, checked.lane.now, needs);
}

function claimAt(delivered: DeliveredCall, lane: LaneState, now: number, needs: Needs): Soon<ClaimedCall | Ending> {
  if (now >= delivered.delivery.deadline) return ended(trouble('DEADLINE_PASSED', {}));
  const current = needs.policies.atLeast(lane.policyVersion);
  return current instanceof Promise
    ? current.then((record) => claimUnder(record, delivered, lane, now))
    : claimUnder(current, delivered, lane, now);
}

function claimUnder(
  { version, policy }: PolicyRecord,
  { delivery, arrivedAt, signal, events }: DeliveredCall,
  lane: LaneState,
  now: number,
): ClaimedCall {
  return { kind: 'claimed', delivery, lane, arrivedAt, signal, events, policy, policyVersion: version, now };
}
