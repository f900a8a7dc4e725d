import { runClaimed } from '../data-path.ts';
import { nestedPool, type WorkerId } from '../domain/identity/ids.ts';
import type { CallQueue } from '../domain/ports/call-store.ts';
import type { ClaimAnswer, Delivery, LaneState } from '../domain/ports/call-requests.ts';
import type { Log } from '../domain/ports/log.ts';
import type { Plane } from '../domain/ports/plane.ts';
import type { StoreLanes } from '../domain/ports/store.ts';
import { emitterOf } from './call-emitter.ts';
import type { CallInFlight, InFlight } from './in-flight.ts';
import type { Slots } from './slots.ts';
import type { StoreAge } from './store-age.ts';
import type { ToolLimiter } from './tool-limiter.ts';
import type { VitalSigns } from './vital-signs.ts';
import { pause } from '../base/pause.ts';

export interface ConsumerSettings {
  readonly workerId: WorkerId;
  readonly pool: string;
  readonly concurrency: number;
  readonly leaseMs: number;
}

export interface ConsumerNeeds {
  readonly store: StoreLanes & CallQueue;
  readonly age: StoreAge;
  readonly plane: Plane;
  readonly slots: Slots;
  /**
   * Slots for nested calls: one for each call of this worker that waits for a nested call, and one more, so that a worker without such a
   * call can run nested calls of other workers.
   */
  readonly nestedSlots: Slots;
  readonly limiter: ToolLimiter;
  readonly inFlight: InFlight;
  readonly vitals: VitalSigns;
  /** Calls the listener when this call waits for a nested call. Returns a function that removes the listener. */
  readonly onNestedWait: (parent: Delivery, listener: () => void) => () => void;
  readonly log: Log;
}

export interface Consumer {
  /** Stops reading calls. Calls under way continue, and so do their nested calls. Resolves when the last read has returned. */
  stop(): Promise<void>;
  /** Stops reading nested calls too, immediately: use it when no call is under way. */
  stopNested(): Promise<void>;
  /** Rejects when the store was replaced: the worker must stop. */
  readonly halted: Promise<never>;
}

const READ_WAIT_MS = 1000;
/** Short, because a worker that has drained waits for this read before it ends. */
const NESTED_WAIT_MS = 500;
/**
 * Max calls per read. Batches are small so that this worker, the store and the callers work at the same time; with larger ones they would
 * wait for each other.
 */
const MAX_AT_ONCE = 48;
const SLOT_WAIT_MS = 500;
const PAUSE_AFTER_FAILURE_MS = 250;

/** Takes calls and runs each through the data path. An error that a call throws out of the data path is caught here and nowhere else. */
export function consume(settings: ConsumerSettings, needs: ConsumerNeeds): Consumer {
  const { store, age, slots, nestedSlots, limiter, inFlight, vitals, log } = needs;
  const { workerId, pool, leaseMs } = settings;
  let stopping = false;
  let nestedStopping = false;
  let halt!: (error: unknown) => void;
  const halted = new Promise<never>((_, reject) => (halt = reject));
  halted.catch(() => undefined);

  /**
   * Adds the call to the table of held calls. Undefined if that fails: the call is not run now. Its lease runs out, and this or another
   * worker recovers it.
   */
  function begin(delivery: Delivery): CallInFlight | undefined {
    try {
      return inFlight.begin(delivery);
    } catch (error) {
      leave(delivery, error);
      return undefined;
    }
  }

  async function runOne(begun: CallInFlight, lane: LaneState, arrivedAt: number, taken: Slots): Promise<void> {
    const { delivery, signal } = begun;
    const events = emitterOf(needs.plane.events, delivery, lane, arrivedAt);
    try {
      const delivered = { delivery, lane, arrivedAt, signal, events };
      await limiter.run(delivery.tool, needs.plane, () => runClaimed(delivered, needs.plane));
    } catch (error) {
      leave(delivery, error);
      events?.left(error);
    } finally {
      begun.end();
      vitals.running = inFlight.size;
      taken.release(1);
    }
  }

  function leave({ callId, tool }: Delivery, error: unknown): void {
    log.error({ stage: 'admit', callId, tool, error }, 'call left for recovery');
  }

  const arrivalOf = (delivery: Delivery, lane: LaneState): number =>
    performance.now() - age.of(delivery.lane, lane.now);

  function runAll({ deliveries, lane }: ClaimAnswer, taken: Slots): void {
    const [first] = deliveries;
    if (first === undefined) return;
    const arrivedAt = arrivalOf(first, lane);
    // Hold all calls before the first tool starts: otherwise a tool that blocks this thread would cost the other calls their leases.
    const all = deliveries.map(begin);
    vitals.running = inFlight.size;
    for (const begun of all) {
      if (begun === undefined) taken.release(1);
      else void runOne(begun, lane, arrivedAt, taken);
    }
  }

  const claim = async (lane: number, limit: number, waitMs: number): Promise<ClaimAnswer | undefined> =>
    stopping ? undefined : readOnce(() => store.claimCalls({ lane, pool, workerId, limit, waitMs }));

  /** Calls that a pending read returns after the stop are given back to other workers at once. */
  async function runUnless(stopped: boolean, answer: ClaimAnswer, taken: Slots): Promise<void> {
    if (!stopped) return runAll(answer, taken);
    await Promise.all(answer.deliveries.map(giveBack));
    taken.release(answer.deliveries.length);
  }

  async function giveBack(delivery: Delivery): Promise<void> {
    try {
      await store.abandonCall({ ...delivery, handedBack: false });
    } catch (error) {
      log.warn({ stage: 'admit', callId: delivery.callId, error }, 'call not given back; left for recovery');
    }
  }

  /** Reads nested calls, with their own slots. Continues until `stopNested`: after `stop`, calls under way may still make nested calls. */
  async function readNested(lane: number): Promise<void> {
    while (!nestedStopping) {
      const reserved = await nestedSlots.reserve(MAX_AT_ONCE, SLOT_WAIT_MS);
      if (reserved === 0) continue;
      const request = { lane, pool: nestedPool(pool), workerId, limit: reserved, waitMs: NESTED_WAIT_MS };
      const answer = await readOnce(() => store.claimCalls(request));
      nestedSlots.release(reserved - (answer?.deliveries.length ?? 0));
      if (answer !== undefined) await runUnless(nestedStopping, answer, nestedSlots);
    }
  }

  /** For a store with one lane: reserves slots, then waits for at most as many calls. No other lane needs these slots meanwhile. */
  async function readOnlyLane(): Promise<void> {
    while (!stopping) {
      vitals.beat();
      const reserved = await slots.reserve(MAX_AT_ONCE, SLOT_WAIT_MS);
      if (reserved === 0) continue;
      const answer = await claim(0, reserved, READ_WAIT_MS);
      slots.release(reserved - (answer?.deliveries.length ?? 0));
      if (answer !== undefined) await runUnless(stopping, answer, slots);
    }
  }

  /**
   * Reads one of several lanes. While a lane is idle, its reader must hold no slot that a busy lane could use. So the reader waits for one
   * call without a slot (each lane can exceed the limit by that call). When it has come, further calls are read, as far as slots are free.
   */
  async function readLane(lane: number): Promise<void> {
    while (!stopping) {
      vitals.beat();
      if ((await slots.reserve(1, SLOT_WAIT_MS)) === 0) continue;
      slots.release(1);
      const first = await claim(lane, 1, READ_WAIT_MS);
      if (first === undefined || first.deliveries.length === 0) continue;
      slots.retake();
      await runUnless(stopping, first, slots);
      const reserved = await slots.reserve(MAX_AT_ONCE, 0);
      if (reserved === 0) continue;
      const more = await claim(lane, reserved, 0);
      slots.release(reserved - (more?.deliveries.length ?? 0));
      if (more !== undefined) await runUnless(stopping, more, slots);
    }
  }

  /** Recovers calls of lost workers, one at a time: if one of them kills this worker too, no other recovered call is affected. */
  async function recoverLane(lane: number, ofPool: string): Promise<void> {
    // The store is asked for one call at a time: calls that are not begun yet stay available to other workers.
    while (!stopping) {
      const answer = await readOnce(() => store.reclaimCalls({ lane, pool: ofPool, workerId, limit: 1, leaseMs }));
      const delivery = answer?.deliveries[0];
      if (answer === undefined || delivery === undefined) return;
      if (stopping) return void (await store.abandonCall({ ...delivery, handedBack: false }));
      const { callId, tool, fence } = delivery;
      log.warn({ stage: 'admit', callId, tool, fence }, 'call recovered');
      await runRecovered(delivery, answer.lane);
    }
  }

  /** A recovered call that waits for a nested call lets the next recovery proceed: that nested call may be the next one to recover. */
  function runRecovered(delivery: Delivery, lane: LaneState): Promise<void> {
    const begun = begin(delivery);
    if (begun === undefined) return Promise.resolve();
    slots.retake();
    return new Promise((resolve) => {
      const forget = needs.onNestedWait(delivery, resolve);
      void runOne(begun, lane, arrivalOf(delivery, lane), slots).finally(() => {
        forget();
        resolve();
      });
    });
  }

  async function readOnce(read: () => Promise<ClaimAnswer>): Promise<ClaimAnswer | undefined> {
    try {
      return await read();
    } catch (error) {
      if (stopping && nestedStopping) return undefined;
      if (error instanceof Error && 'code' in error && error.code === 'STORE_REPLACED') {
        stopping = true;
        nestedStopping = true;
        halt(error);
        return undefined;
      }
      log.warn({ stage: 'admit', error }, 'the store did not answer; trying again');
      await pause(PAUSE_AFTER_FAILURE_MS);
      return undefined;
    }
  }

  const lanes = Array.from({ length: store.lanes }, (_, lane) => lane);
  const reading = lanes.length === 1 ? readOnlyLane() : Promise.all(lanes.map(readLane)).then(() => undefined);
  const readingNested = Promise.all(lanes.map(readNested));
  let recovering: Promise<void> | undefined;
  const recovery = setInterval(
    () => {
      if (stopping) return;
      recovering ??= lanes
        .reduce(
          (before, lane) => before.then(() => recoverLane(lane, pool)).then(() => recoverLane(lane, nestedPool(pool))),
          Promise.resolve(),
        )
        .catch((error: unknown) => log.warn({ stage: 'admit', error }, 'recovery interrupted'))
        .finally(() => (recovering = undefined));
    },
    Math.max(50, leaseMs / 3),
  );

  return {
    halted,
    async stop() {
      stopping = true;
      clearInterval(recovery);
      await reading;
      await recovering;
    },
    async stopNested() {
      nestedStopping = true;
      await readingNested;
    },
  };
}
