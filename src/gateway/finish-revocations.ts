import type { Log } from '../domain/ports/log.ts';
import type { RevocationRepair } from '../domain/ports/token-store.ts';

const EVERY_MS = 1000;

/**
 * Finishes token revocations that another process began. Returns true if none is left. Never throws: if a session could not be revoked, its
 * lane cannot be reached. In such a lane no approval can be decided and no call can start, so the session can do nothing.
 */
export async function finishRevocations(store: RevocationRepair, log: Log, thorough = false): Promise<boolean> {
  try {
    const tokens = await store.finishRevocations({ thorough });
    if (tokens > 0) log.info({ tokens }, 'finished the revocation of tokens that another process began');
    return true;
  } catch (error) {
    log.warn({ error }, 'sessions of a revoked token could not be revoked yet; tried again every second');
    return false;
  }
}

/** Runs one thorough pass, which the caller awaits before it serves requests. Then runs once a second until `stop` is called. */
export async function keepFinishingRevocations(store: RevocationRepair, log: Log): Promise<{ stop(): Promise<void> }> {
  // A lasting failure logs one line, not one per second.
  const quiet: Log = { debug() {}, info: (facts, message) => log.info(facts, message), warn() {}, error() {} };
  let finished = await finishRevocations(store, log, true);
  let looking: Promise<void> | undefined;

  async function look(): Promise<void> {
    finished = await finishRevocations(store, finished ? log : quiet);
    looking = undefined;
  }
  const timer = setInterval(() => void (looking ??= look()), EVERY_MS);
  return {
    async stop() {
      clearInterval(timer);
      await looking;
    },
  };
}
