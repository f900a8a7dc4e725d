import type { Plane } from '../domain/ports/plane.ts';
import type { Slots } from './slots.ts';
import type { ToolLimiter } from './tool-limiter.ts';
import { pause } from '../base/pause.ts';

/**
 * Max calls that may wait without a slot. Further ones keep their slot; otherwise calls for other workers would fill this worker's memory.
 */
export const MAX_HELD_WITHOUT_SLOT = 256;

interface HoldNeeds {
  readonly slots: Slots;
  /** The slots of nested calls. A nested call was claimed with one of these, so it lends one of these and not one of `slots`. */
  readonly nested: { readonly pool: string; readonly slots: Slots };
  readonly limiter: Pick<ToolLimiter, 'lend'>;
}

/**
 * Delays a call that this worker cannot run, before it is handed back to the queue. During the delay the call keeps its lease, but other
 * calls use its slot and its turn in the limiter.
 */
export function createHoldWithoutSlot({ slots, nested, limiter }: HoldNeeds): Plane['holdWithoutSlot'] {
  let heldCount = 0;
  return async ({ delivery, signal }, waitMs) => {
    if (waitMs <= 0 || signal.aborted) return;
    const own = delivery.pool === nested.pool ? nested.slots : slots;
    const lends = heldCount < MAX_HELD_WITHOUT_SLOT;
    const takeTurn = limiter.lend(delivery.tool);
    heldCount += 1;
    if (lends) own.release(1);
    await pause(waitMs, signal);
    if (lends) own.retake();
    heldCount -= 1;
    takeTurn();
  };
}
