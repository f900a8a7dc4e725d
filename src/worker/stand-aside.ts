import type { Plane } from '../ports/plane.ts';
import type { Slots } from './slots.ts';
import type { ToolLimiter } from './tool-limiter.ts';

/** So many calls may stand aside without a slot; more keep theirs, or calls for others would fill the memory of this worker. */
export const MOST_ASIDE = 256;

interface AsideNeeds {
  readonly slots: Slots;
  /** Calls that this worker took with a lent slot give that one back. */
  readonly nested: { readonly pool: string; readonly slots: Slots };
  readonly limiter: Pick<ToolLimiter, 'lend'>;
}

/** A call that waits to be handed back is not run here: meanwhile its slot and its turn serve others. Its lease is held on. */
export function createStandAside({ slots, nested, limiter }: AsideNeeds): Plane['standAside'] {
  let aside = 0;
  return async ({ delivery, signal }, waitMs) => {
    if (waitMs <= 0 || signal.aborted) return;
    const own = delivery.pool === nested.pool ? nested.slots : slots;
    const lends = aside < MOST_ASIDE;
    const takeTurn = limiter.lend(delivery.tool);
    aside += 1;
    if (lends) own.release(1);
    await new Promise<void>((resolve) => {
      const over = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', over);
        resolve();
      };
      const timer = setTimeout(over, waitMs);
      signal.addEventListener('abort', over, { once: true });
    });
    if (lends) own.retake();
    aside -= 1;
    takeTurn();
  };
}
