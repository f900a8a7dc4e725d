import { setTimeout as pause } from 'node:timers/promises';
import { PlaneError } from 'sallyport/client';

const FOR_MS = 120_000;
const AGAIN_MS = 200;

/** Retries the work while the store is unavailable because its owner is restarting. */
export async function insist<Result>(work: () => Promise<Result>): Promise<Result> {
  for (const giveUpAt = performance.now() + FOR_MS; ;) {
    try {
      return await work();
    } catch (error) {
      const isAway = error instanceof PlaneError && error.code.startsWith('STORE_');
      if (!isAway || performance.now() > giveUpAt) throw error;
      await pause(AGAIN_MS);
    }
  }
}
