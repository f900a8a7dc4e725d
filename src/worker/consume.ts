import { runClaimed } from '../data-path.ts';
import { nestedPool, type WorkerId } from '../domain/ids.ts';
import type { ClaimAnswer, Delivery, LaneState } from '../ports/call-store.ts';
import type { Log } from '../ports/log.ts';
import type { Plane } from '../ports/plane.ts';
import type { Store } from '../ports/store.ts';
import { emitterOf } from './call-emitter.ts';
import type { CallInFlight, InFlight } from './in-flight.ts';
import type { Slots } from './slots.ts';
import type { StoreAge } from './store-age.ts';
import type { ToolLimiter } from './tool-limiter.ts';
import type { VitalSigns } from './vital-signs.ts';

export interface ConsumerSettings {
  readonly workerId: WorkerId;
  readonly pool: string;
  readonly concurrency: number;
  readonly leaseMs: number;
}

export interface ConsumerNeeds {
  readonly store: Store;
  readonly age: StoreAge;
  readonly plane: Plane;
  readonly slots: Slots;
  /** What waiting parents lend, and one more, so that an idle worker helps others. */
  readonly nestedSlots: Slots;
  readonly limiter: ToolLimiter;
  readonly inFlight: InFlight;
  readonly vitals: VitalSigns;
  /** Calls back when this call waits for one of its own. Returns how to stop listening. */
  readonly onNestedWait: (parent: Delivery, listener: () => void) => () => void;
  readonly log: Log;
}

export interface Consumer {
  /** Reads no more. Calls under way go on, and so do those they make. Resolves when the last read has come back. */
  stop(): Promise<void>;
  /** Reads no nested calls either, from this very moment on: call it when nothing is under way. */
  stopNested(): Promise<void>;
  /** Rejects when the store was replaced under us: the worker must not go on. */
  readonly halted: Promise<never>;
}

const READ_WAIT_MS = 1000;
/** Short, so that a worker that has drained is not kept by it. */
const NESTED_WAIT_MS = 500;
/** So that this worker, the server and the callers each have something to do: whoever takes all makes the others wait. */
const MOST_AT_ONCE = 48;
const SLOT_WAIT_MS = 500;
const PAUSE_AFTER_TROUBLE_MS = 250;

/** Takes calls and runs each through the data path. The one catch-all of the worker is here. */
export function consume(settings: ConsumerSettings, needs: ConsumerNeeds): Consumer {
  const { store, age, slots, nestedSlots, limiter, inFlight, vitals, log } = needs;
  const { workerId, pool, leaseMs } = settings;
  let stopping = false;
  let nestedStopping = false;
  let halt!: (error: unknown) => void;
  const halted = new Promise<never>((_, reject) => (halt = reject));
  halted.catch(() => undefined);

  /** Takes the call into the table of held ones. Undefined: it is left, its lease runs out and it is recovered, here or elsewhere. */
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
    log.error({ stage: 'claim', callId, tool, error }, 'call left for recovery');
  }

  const arrivalOf = (delivery: Delivery, lane: LaneState): number =>
    performance.now() - age.of(delivery.lane, lane.now);

  function runAll({ deliveries, lane }: ClaimAnswer, taken: Slots): void {
    const [first] = deliveries;
    if (first === undefined) return;
    const arrivedAt = arrivalOf(first, lane);
    // All are held before the first tool is entered: one that blocks this thread must not cost the others their leases.
    const all = deliveries.map(begin);
    vitals.running = inFlight.size;
    for (const begun of all) {
      if (begun === undefined) taken.release(1);
      else void runOne(begun, lane, arrivedAt, taken);
    }
  }

  const claim = async (lane: number, limit: number, waitMs: number): Promise<ClaimAnswer | undefined> =>
    stopping ? undefined : readOnce(() => store.claimCalls({ lane, pool, workerId, limit, waitMs }));

  /** What a read that was under way brings after the stop goes to others at once. */
  async function runUnless(stopped: boolean, answer: ClaimAnswer, taken: Slots): Promise<void> {
    if (!stopped) return runAll(answer, taken);
    await Promise.all(answer.deliveries.map(giveBack));
    taken.release(answer.deliveries.length);
  }

  async function giveBack(delivery: Delivery): Promise<void> {
    try {
      await store.abandonCall({ ...delivery, handedBack: false });
    } catch (error) {
      log.warn({ stage: 'claim', callId: delivery.callId, error }, 'call not given back; left for recovery');
    }
  }

  /** Nested calls, with lent slots; goes on while calls under way may make some. */
  async function readNested(lane: number): Promise<void> {
    while (!nestedStopping) {
      const reserved = await nestedSlots.reserve(MOST_AT_ONCE, SLOT_WAIT_MS);
      if (reserved === 0) continue;
      const request = { lane, pool: nestedPool(pool), workerId, limit: reserved, waitMs: NESTED_WAIT_MS };
      const answer = await readOnce(() => store.claimCalls(request));
      nestedSlots.release(reserved - (answer?.deliveries.length ?? 0));
      if (answer !== undefined) await runUnless(nestedStopping, answer, nestedSlots);
    }
  }

  /** The only lane: what is reserved is read for, however long it takes. */
  async function readOnlyLane(): Promise<void> {
    while (!stopping) {
      vitals.beat();
      const reserved = await slots.reserve(MOST_AT_ONCE, SLOT_WAIT_MS);
      if (reserved === 0) continue;
      const answer = await claim(0, reserved, READ_WAIT_MS);
      slots.release(reserved - (answer?.deliveries.length ?? 0));
      if (answer !== undefined) await runUnless(stopping, answer, slots);
    }
  }

  /**
   * One of several lanes: an idle one must hold no slot that a busy one could use. So it waits for one call without a slot (each lane
   * can exceed the bound by that one), and only then takes what more it finds, as far as slots are free.
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
      const reserved = await slots.reserve(MOST_AT_ONCE, 0);
      if (reserved === 0) continue;
      const more = await claim(lane, reserved, 0);
      slots.release(reserved - (more?.deliveries.length ?? 0));
      if (more !== undefined) await runUnless(stopping, more, slots);
    }
  }

  /** Calls of lost workers, one at a time: if one of them kills this worker too, it takes no neighbour along. */
  async function recoverLane(lane: number, ofPool: string): Promise<void> {
    // Taken one by one too: what is not begun yet stays free for others to take.
    while (!stopping) {
      const answer = await readOnce(() => store.reclaimCalls({ lane, pool: ofPool, workerId, limit: 1, leaseMs }));
      const delivery = answer?.deliveries[0];
      if (answer === undefined || delivery === undefined) return;
      if (stopping) return void (await store.abandonCall({ ...delivery, handedBack: false }));
      const { callId, tool, fence } = delivery;
      log.warn({ stage: 'claim', callId, tool, fence }, 'call recovered');
      await runRecovered(delivery, answer.lane);
    }
  }

  /** A call that waits for one of its own gives its turn away: the other may be the next to be recovered. */
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
      log.warn({ stage: 'claim', error }, 'the store did not answer; trying again');
      await pause(PAUSE_AFTER_TROUBLE_MS);
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
        .catch((error: unknown) => log.warn({ stage: 'claim', error }, 'recovery interrupted'))
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

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
