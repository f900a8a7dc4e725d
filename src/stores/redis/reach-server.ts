import { PlaneError } from '../../domain/errors/errors.ts';
import { untilReady, type Connection } from './connection.ts';
import type { RedisConnectionOptions } from './redis-options.ts';
import { explainSentinels } from './explain-sentinels.ts';

/**
 * For a process that starts: waits until commands can be sent. If waiting cannot help, because a setting is wrong, throws an error that
 * names it.
 */
export async function reachServer(
  connection: Connection,
  options: Pick<RedisConnectionOptions, 'sentinels' | 'sentinelName' | 'tls'>,
  waitMs: number,
): Promise<void> {
  try {
    await untilReady(connection, waitMs, 'first');
  } catch (error) {
    const isSilent = error instanceof PlaneError && error.code === 'STORE_UNAVAILABLE';
    if (!isSilent || options.sentinels === undefined) throw error;
    throw (await explainSentinels({ ...options, commandTimeoutMs: waitMs })) ?? error;
  }
}
