import { drainLane, type DrainNeeds, type DrainSettings, type LaneDrain, type LaneDrainState } from './drain-lane.ts';

export interface LaneDrains {
  readonly states: readonly LaneDrainState[];
  /** Drains the records that wait now, as far as possible, and releases the lanes. */
  stop(): Promise<void>;
}

const BUSY_PAUSE_MS = 25;
const MIN_PAUSE_MS = 100;
const MAX_PAUSE_MS = 1000;
const LAST_ROUNDS = 200;

/** Runs one drain per lane, each at its own pace: a lane that is stuck does not delay the others. */
export function drainLanes(settings: DrainSettings, needs: DrainNeeds): LaneDrains {
  const lanes = needs.store.auditLanes.map((lane) => drainLane(lane, settings, needs));
  const waking = new Set<() => void>();
  let stopping = false;

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        waking.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      waking.add(wake);
    });

  async function run(lane: LaneDrain): Promise<void> {
    let pauseMs = MIN_PAUSE_MS;
    while (!stopping) {
      const taken = await lane.round();
      pauseMs = taken > 0 ? BUSY_PAUSE_MS : Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, pauseMs * 2));
      if (!stopping) await pause(pauseMs);
    }
    for (let round = 0; round < LAST_ROUNDS && (await lane.round()) > 0; round += 1);
    await lane.leave().catch(() => undefined);
  }

  const running = lanes.map(run);
  return {
    get states() {
      return lanes.map(({ state }) => state);
    },
    async stop() {
      stopping = true;
      for (const wake of waking) wake();
      await Promise.all(running);
    },
  };
}
