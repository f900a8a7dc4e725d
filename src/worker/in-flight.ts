import type { Delivery, OwnedCall } from '../ports/call-store.ts';
import type { HeldCalls } from './held-calls.ts';

export type StopReason = 'lost' | 'cancelled' | 'draining';

/** Calls under way in this worker, each with its lease in the shared table and the signal that stops it. */
export interface InFlight {
  begin(delivery: Delivery): { signal: AbortSignal; end: () => void };
  stop(lease: LeaseName, why: StopReason): void;
  stopAll(why: StopReason): void;
  readonly size: number;
  /** Resolves when nothing is under way, or after `waitMs`. */
  idle(waitMs: number): Promise<boolean>;
}

/** A worker can meet its own call again after a pause; the fence tells the two leases apart. */
export type LeaseName = Pick<OwnedCall, 'callId' | 'fence'>;

/** Making a signal is the dearest part of a short call, so those that were never used are used again. */
const MOST_SPARE = 256;

export function createInFlight(held: HeldCalls): InFlight {
  const spare: AbortController[] = [];
  const calls = new Map<string, AbortController>();
  const onIdle = new Set<() => void>();
  const nameOf = ({ callId, fence }: LeaseName): string => `${callId}/${fence}`;

  return {
    begin(delivery) {
      const slot = held.hold(delivery, delivery.lane);
      const name = nameOf(delivery);
      const controller = spare.pop() ?? new AbortController();
      calls.set(name, controller);
      // Our own call under an older fence: that run has lost it.
      if (delivery.fence > 1) calls.get(nameOf({ callId: delivery.callId, fence: delivery.fence - 1 }))?.abort('lost');
      return {
        signal: controller.signal,
        end() {
          held.release(slot);
          calls.delete(name);
          if (!controller.signal.aborted && spare.length < MOST_SPARE) spare.push(controller);
          if (calls.size === 0) for (const resolve of onIdle) resolve();
        },
      };
    },
    stop(lease, why) {
      calls.get(nameOf(lease))?.abort(why);
    },
    stopAll(why) {
      for (const controller of calls.values()) controller.abort(why);
    },
    get size() {
      return calls.size;
    },
    async idle(waitMs) {
      if (calls.size === 0) return true;
      return new Promise((resolve) => {
        const finish = (isIdle: boolean): void => {
          clearTimeout(timer);
          onIdle.delete(onEmpty);
          resolve(isIdle);
        };
        const onEmpty = (): void => finish(true);
        const timer = setTimeout(finish, waitMs, false);
        onIdle.add(onEmpty);
      });
    },
  };
}
