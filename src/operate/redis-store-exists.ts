import { openConnection, sendCommand, toPlaneError, type Connection } from '../stores/redis/connection.ts';
import { deploymentKeys } from '../stores/redis/keys.ts';
import { reachServer } from '../stores/redis/reach-server.ts';
import type { RedisStoreOptions } from '../stores/redis/redis-options.ts';

const COMMAND_TIMEOUT_MS = 10_000;
const PATIENCE_MS = 15_000;
const DEFAULT_NAME = 'sallyport';

export const storeName = ({ name = DEFAULT_NAME }: RedisStoreOptions): string => name;

/** Whether a store exists. Writes nothing; opening a store would create it. */
export async function redisStoreExists(options: RedisStoreOptions): Promise<boolean> {
  const connection = openConnection({ commandTimeoutMs: COMMAND_TIMEOUT_MS, ...options }, 'commands');
  try {
    await reachServer(connection, options, options.patienceMs ?? PATIENCE_MS);
    return await isFounded(connection, options);
  } catch (error) {
    throw toPlaneError(error);
  } finally {
    connection.disconnect();
  }
}

export async function isFounded(connection: Connection, options: RedisStoreOptions): Promise<boolean> {
  return (await sendCommand(connection, 'EXISTS', [deploymentKeys(storeName(options)).incarnation])) === 1;
}
