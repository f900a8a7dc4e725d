import type { Log } from '../ports/log.ts';
import type { TokenStore } from '../ports/token-store.ts';

type Revocations = Pick<TokenStore, 'finishRevocations'>;

const EVERY_MS = 1000;

/**
 * Finishes revocations of tokens that another process began. Never throws: sessions that are left then lie in a lane that cannot be
 * reached, where no call can be decided or started either. Answers whether none is left.
 */
export async function finishRevocations(store: Revocations, log: Log, thorough = false): Promise<boolean> {
  try {
    const tokens = await store.finishRevocations({ thorough });
    if (tokens > 0) log.info({ tokens }, 'finished the revocation of tokens that another process began');
    return true;
  } catch (error) {
    log.warn({ error }, 'sessions of a revoked token could not be revoked yet; tried again every second');
    return false;
  }
}

/** Looks thoroughly at first, which the caller waits for before it serves requests; then once a second until it is stopped. */
export async function keepFinishingRevocations(store: Revocations, log: Log): Promise<{ stop(): Promise<void> }> {
  // A failure that lasts is one line in the log, not one per second.
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
