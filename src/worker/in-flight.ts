import type { Delivery, OwnedCall } from '../domain/ports/call-requests.ts';
import type { Log } from '../domain/ports/log.ts';
import type { StopSignal } from '../domain/ports/tool-runner.ts';
import type { HeldCalls } from './held-calls.ts';

export type StopReason = 'lost' | 'cancelled' | 'draining';

/** Calls under way in this worker, each with its lease in the shared table and the signal that stops it. */
export interface InFlight {
  begin(delivery: Delivery): CallInFlight;
  stop(lease: LeaseName, why: StopReason): void;
  stopAll(why: StopReason): void;
  readonly size: number;
  /** Resolves to true when no call is under way, or to false after `waitMs`. */
  idle(waitMs: number): Promise<boolean>;
}

export interface CallInFlight {
  readonly delivery: Delivery;
  readonly signal: StopSignal;
  end(): void;
}

/**
 * Identifies one lease of a call. A worker can receive its own call again: after the process was suspended (the fences of the two leases
 * differ), or because the entry was queued a second time by hand (the entry ids differ).
 */
export type LeaseName = Pick<OwnedCall, 'callId' | 'entryId' | 'fence'>;

export function createInFlight(held: HeldCalls): InFlight {
  /** Calls by slot of the table. Stop orders are rare and search all of them, so no index by call id is needed. */
  const calls: (HeldRun | undefined)[] = [];
  const onIdle = new Set<() => void>();
  let size = 0;

  function end(slot: number): void {
    held.release(slot);
    calls[slot] = undefined;
    size -= 1;
    if (size === 0) for (const resolve of onIdle) resolve();
  }

  return {
    begin(delivery) {
      const slot = held.hold(delivery, delivery.lane);
      // If this worker still runs the same call under an older fence, that run has lost its lease, so it is stopped.
      if (delivery.fence > 1) stopOlder(calls, delivery);
      const call = new HeldRun(delivery, slot, end);
      calls[slot] = call;
      size += 1;
      return call;
    },
    stop: (lease, why) => stop(calls, lease, why),
    stopAll(why) {
      for (const call of calls) call?.abort(why);
    },
    get size() {
      return size;
    },
    async idle(waitMs) {
      if (size === 0) return true;
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

function stop(calls: readonly (HeldRun | undefined)[], lease: LeaseName, why: StopReason): void {
  for (const call of calls) {
    const held = call?.delivery;
    if (held?.fence === lease.fence && held.callId === lease.callId && held.entryId === lease.entryId) call!.abort(why);
  }
}

function stopOlder(calls: readonly (HeldRun | undefined)[], { callId, fence }: Delivery): void {
  for (const call of calls) {
    if (call !== undefined && call.delivery.callId === callId && call.delivery.fence < fence) call.abort('lost');
  }
}

class HeldRun implements CallInFlight, StopSignal {
  readonly delivery: Delivery;
  aborted = false;
  reason: StopReason | undefined = undefined;
  readonly #slot: number;
  readonly #end: (slot: number) => void;
  #listeners: (() => void)[] | undefined;

  constructor(delivery: Delivery, slot: number, end: (slot: number) => void) {
    this.delivery = delivery;
    this.#slot = slot;
    this.#end = end;
  }

  get signal(): StopSignal {
    return this;
  }

  end(): void {
    this.#end(this.#slot);
  }

  abort(why: StopReason): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = why;
    const listeners = this.#listeners;
    this.#listeners = undefined;
    for (const listener of listeners ?? []) listener();
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (this.aborted) return;
    if (this.#listeners === undefined) this.#listeners = [listener];
    else this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const at = this.#listeners?.indexOf(listener) ?? -1;
    if (at >= 0) this.#listeners!.splice(at, 1);
  }
}

interface FinishOptions {
  readonly graceMs: number;
  /** How long stopped calls may take to end. */
  readonly afterAbortMs: number;
  readonly log: Log;
}

/**
 * Waits until no call is under way. When the grace is over, stops the rest. Checks again after each wait: a nested call may begin after the
 * last call ended and before this function is notified.
 */
export async function finishCalls(inFlight: InFlight, { graceMs, afterAbortMs, log }: FinishOptions): Promise<void> {
  const graceEndsAt = performance.now() + graceMs;
  while (inFlight.size > 0) {
    if (await inFlight.idle(graceEndsAt - performance.now())) continue;
    log.warn({ running: inFlight.size }, 'grace is over; calls under way are stopped');
    inFlight.stopAll('draining');
    await inFlight.idle(afterAbortMs);
    return;
  }
}
