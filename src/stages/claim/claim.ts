import { ended, type Ending } from '../../domain/ending.ts';
import { trouble } from '../../domain/errors.ts';
import type { Policy } from '../../domain/policy.ts';
import type { DeliveredCall, Plane } from '../../ports/plane.ts';

/** A delivery that is ours, of a session that lives, under the policy of now. */
export interface ClaimedCall extends DeliveredCall {
  readonly kind: 'claimed';
  readonly policy: Policy;
  readonly policyVersion: number;
  /** Store time, carried on by the monotonic clock since the delivery. */
  readonly now: number;
}

/**
 * The delivery itself was the claim; here we make sure that its snapshot is still current. If nothing was revoked since accept
 * (same epoch) and it was held only for a moment, that needs no trip to the store.
 */
export async function claim(
  delivered: DeliveredCall,
  needs: Pick<Plane, 'store' | 'policies' | 'settings'>,
): Promise<ClaimedCall | Ending> {
  const { delivery } = delivered;
  const recovered = delivery.recovered;
  if (recovered?.wasRunning === true && recovered.effect === 'unsafe') {
    return ended(trouble('MAY_HAVE_RUN', { tool: delivery.tool }, { executed: 'unknown' }));
  }
  if (recovered?.cancelRequested === true) {
    return ended(trouble('CALL_CANCELLED', {}, { executed: recovered.starts > 0 ? 'unknown' : 'no' }));
  }
  const heldMs = performance.now() - delivered.arrivedAt;
  let { lane } = delivered;
  let now = lane.now + heldMs;
  const mayTrustSnapshot =
    lane.epoch === delivery.epoch && heldMs <= needs.settings.trustSnapshotMs && now < delivery.sessionExpiresAt;
  if (!mayTrustSnapshot) {
    const { session, run } = delivery;
    const checked = await needs.store.recheckSessions({ lane: delivery.lane, sessions: [{ session, run }] });
    const ending = checked.endings[0];
    if (ending !== undefined) return ended(trouble('SESSION_ENDED', { ending }));
    lane = checked.lane;
    now = lane.now;
  }
  if (now >= delivery.deadline) return ended(trouble('DEADLINE_PASSED', {}));
  const { version, policy } = await needs.policies.atLeast(lane.policyVersion);
  const { arrivedAt, signal } = delivered;
  return { kind: 'claimed', delivery, lane, arrivedAt, signal, policy, policyVersion: version, now };
}
