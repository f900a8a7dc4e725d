import { runClaimed } from '../data-path.ts';
import type { WorkerId } from '../domain/ids.ts';
import type { ClaimAnswer, Delivery, LaneState } from '../ports/call-store.ts';
import type { Log } from '../ports/log.ts';
import type { Plane } from '../ports/plane.ts';
import type { Store } from '../ports/store.ts';
import type { InFlight } from './in-flight.ts';
import type { Slots } from './slots.ts';
import { createToolLimiter } from './tool-limiter.ts';
import type { VitalSigns } from './vital-signs.ts';

export interface ConsumerSettings {
  readonly workerId: WorkerId;
  readonly pool: string;
  readonly concurrency: number;
  readonly leaseMs: number;
}

export interface ConsumerNeeds {
  readonly store: Store;
  readonly plane: Plane;
  readonly slots: Slots;
  readonly inFlight: InFlight;
  readonly vitals: VitalSigns;
  readonly log: Log;
}

export interface Consumer {
  /** Reads no more. Calls under way go on. Resolves when the last read has come back. */
  stop(): Promise<void>;
  /** Rejects when the store was replaced under us: the worker must not go on. */
  readonly halted: Promise<never>;
}

const READ_WAIT_MS = 1000;
const MOST_AT_ONCE = 64;
const SLOT_WAIT_MS = 500;
const PAUSE_AFTER_TROUBLE_MS = 250;

/** Takes calls and runs each through the data path. The one catch-all of the worker is here. */
export function consume(settings: ConsumerSettings, needs: ConsumerNeeds): Consumer {
  const { store, slots, inFlight, vitals, log } = needs;
  const { workerId, pool, leaseMs } = settings;
  const limiter = createToolLimiter();
  const share = Math.max(1, Math.floor(settings.concurrency / store.lanes));
  let stopping = false;
  let halt!: (error: unknown) => void;
  const halted = new Promise<never>((_, reject) => (halt = reject));
  halted.catch(() => undefined);

  async function runOne(delivery: Delivery, lane: LaneState, arrivedAt: number): Promise<void> {
    const { signal, end } = inFlight.begin(delivery);
    vitals.running = inFlight.size;
    try {
      await limiter.run(delivery.tool, needs.plane, () => runClaimed({ delivery, lane, arrivedAt, signal }, needs.plane));
    } catch (error) {
      // Nothing was settled: the lease runs out and the call is recovered, here or elsewhere.
      log.error({ stage: 'claim', callId: delivery.callId, tool: delivery.tool, error }, 'call left for recovery');
    } finally {
      end();
      vitals.running = inFlight.size;
    }
  }

  async function readLane(lane: number): Promise<void> {
    while (!stopping) {
      vitals.beat();
      const reserved = await slots.reserve(Math.min(share, MOST_AT_ONCE), SLOT_WAIT_MS);
      if (reserved === 0) continue;
      const answer = await readOnce(() =>
        store.claimCalls({ lane, pool, workerId, limit: reserved, waitMs: stopping ? 0 : READ_WAIT_MS }),
      );
      const deliveries = answer?.deliveries ?? [];
      slots.release(reserved - deliveries.length);
      const arrivedAt = performance.now();
      for (const delivery of deliveries) {
        void runOne(delivery, answer!.lane, arrivedAt).finally(() => slots.release(1));
      }
    }
  }

  /** Calls of lost workers, one at a time: if one of them kills this worker too, it takes no neighbour along. */
  async function recoverLane(lane: number): Promise<void> {
    // Taken one by one too: what is not begun yet stays free for others to take.
    while (!stopping) {
      const answer = await readOnce(() => store.reclaimCalls({ lane, pool, workerId, limit: 1, leaseMs }));
      const delivery = answer?.deliveries[0];
      if (delivery === undefined) return;
      const { callId, tool, fence } = delivery;
      log.warn({ stage: 'claim', callId, tool, fence }, 'call recovered');
      await runOne(delivery, answer!.lane, performance.now());
    }
  }

  async function readOnce(read: () => Promise<ClaimAnswer>): Promise<ClaimAnswer | undefined> {
    try {
      return await read();
    } catch (error) {
      if (stopping) return undefined;
      if (error instanceof Error && 'code' in error && error.code === 'STORE_REPLACED') {
        stopping = true;
        halt(error);
        return undefined;
      }
      log.warn({ stage: 'claim', error }, 'the store did not answer; trying again');
      await pause(PAUSE_AFTER_TROUBLE_MS);
      return undefined;
    }
  }

  const lanes = Array.from({ length: store.lanes }, (_, lane) => lane);
  const reading = Promise.all(lanes.map(readLane));
  const recovery = setInterval(() => void recover(), Math.max(50, leaseMs / 3));
  let recovering: Promise<void> | undefined;

  function recover(): void {
    if (stopping) return;
    recovering ??= lanes
      .reduce((before, lane) => before.then(() => recoverLane(lane)), Promise.resolve())
      .finally(() => (recovering = undefined));
  }

  return {
    halted,
    async stop() {
      stopping = true;
      clearInterval(recovery);
      await reading;
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
