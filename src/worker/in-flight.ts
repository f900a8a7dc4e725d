import type { CallId } from '../domain/ids.ts';
import type { Delivery } from '../ports/call-store.ts';
import type { HeldCalls } from './held-calls.ts';

export type StopReason = 'lost' | 'cancelled' | 'draining';

/** Calls under way in this worker, each with its lease in the shared table and the signal that stops it. */
export interface InFlight {
  begin(delivery: Delivery): { signal: AbortSignal; end: () => void };
  stop(callId: CallId, entryId: string, why: StopReason): void;
  stopAll(why: StopReason): void;
  readonly size: number;
  /** Resolves when nothing is under way, or after `waitMs`. */
  idle(waitMs: number): Promise<boolean>;
}

/** Making a signal is the dearest part of a short call, so those that were never used are used again. */
const MOST_SPARE = 256;

export function createInFlight(held: HeldCalls): InFlight {
  const spare: AbortController[] = [];
  const calls = new Map<string, AbortController>();
  const onIdle = new Set<() => void>();
  const nameOf = (callId: CallId, entryId: string): string => `${callId}/${entryId}`;

  return {
    begin(delivery) {
      const name = nameOf(delivery.callId, delivery.entryId);
      const controller = spare.pop() ?? new AbortController();
      const slot = held.hold(delivery, delivery.lane);
      calls.set(name, controller);
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
    stop(callId, entryId, why) {
      calls.get(nameOf(callId, entryId))?.abort(why);
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
