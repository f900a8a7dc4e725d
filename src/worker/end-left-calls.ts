import { ended, isEnding } from '../domain/call/ending.ts';
import { errorOutcome } from '../domain/errors/errors.ts';
import { nestedPool } from '../domain/identity/ids.ts';
import type { LaneState, Delivery } from '../domain/ports/call-requests.ts';
import type { DeliveredCall, Plane } from '../domain/ports/plane.ts';
import type { StopSignal } from '../domain/ports/tool-runner.ts';
import { admit } from '../stages/admit/admit.ts';
import { settleOutcome } from '../stages/settle/settle-outcome.ts';
import { emitterOf } from './call-emitter.ts';

const AT_ONCE = 64;

/** Ends the calls left in a private queue when its only reader leaves: no other worker would answer them before their deadline. */
export async function endLeftCalls(pool: string, plane: Plane): Promise<void> {
  const { store, workerId } = plane;
  for (const each of [pool, nestedPool(pool)]) {
    for (let lane = 0; lane < store.lanes; lane += 1) {
      for (;;) {
        const left = await store.claimCalls({ lane, pool: each, workerId, limit: AT_ONCE, waitMs: 0 });
        if (left.deliveries.length === 0) break;
        await Promise.all(left.deliveries.map((delivery) => endLeftCall(delivery, left.lane, plane)));
      }
    }
  }
}

/** If the admit stage ends the call, its outcome is used: the call may have been started before, cancelled, or be past its deadline. */
async function endLeftCall(delivery: Delivery, lane: LaneState, plane: Plane): Promise<void> {
  const arrivedAt = performance.now();
  const events = emitterOf(plane.events, delivery, lane, arrivedAt);
  const delivered: DeliveredCall = { delivery, lane, arrivedAt, signal: LEAVING, events };
  const admitted = await admit(delivered, plane);
  const known = isEnding(admitted) && admitted.kind === 'ended' ? admitted.outcome : undefined;
  const outcome = known ?? errorOutcome('TOOL_PINNED', { tool: delivery.tool });
  events?.passed('admit', ended(outcome));
  const settled = await settleOutcome(delivered, outcome, {}, plane);
  events?.settled(settled.answer, settled.outcome);
}

/**
 * An aborted signal: with it, settling is tried only once, because this process is about to end. The reaper ends the calls that remain at
 * their deadline.
 */
const LEAVING: StopSignal = {
  aborted: true,
  reason: 'draining',
  addEventListener: () => undefined,
  removeEventListener: () => undefined,
};
