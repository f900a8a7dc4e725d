import type { Log } from '../domain/ports/log.ts';
import { PlaneError } from '../domain/errors/errors.ts';
import { DEFAULT_USER_LINE, type Role } from '../stores/redis/acl-roles.ts';
import { checkRole } from '../stores/redis/check-role.ts';
import { openConnection, toPlaneError } from '../stores/redis/connection.ts';
import { isOpenToAnyone } from '../stores/redis/default-user.ts';
import { reachServer } from '../stores/redis/reach-server.ts';
import type { RedisStoreOptions } from '../stores/redis/redis-options.ts';
import { storeName } from './redis-store-exists.ts';

export const OPEN_TO_ANYONE =
  'Redis accepts connections without a password: anyone who reaches it can read and delete everything';
export const CLOSE_DEFAULT_USER = `Write this line first into the users' file, then run ACL LOAD: ${DEFAULT_USER_LINE}`;

const COMMAND_TIMEOUT_MS = 5000;
const PATIENCE_MS = 15_000;

/**
 * Checks the server when a worker or a gateway starts. Throws STORE_ROLE when its Redis user lacks rights of its role. Logs a warning when the
 * server accepts connections without a password, or when that could not be checked.
 */
export async function checkRedisServer(redis: RedisStoreOptions, role: Role, log: Log): Promise<void> {
  const connection = openConnection({ commandTimeoutMs: COMMAND_TIMEOUT_MS, ...redis }, 'commands');
  try {
    await reachServer(connection, redis, redis.patienceMs ?? PATIENCE_MS);
    await checkRole(connection, storeName(redis), role);
    if (await isOpenToAnyone(connection)) log.warn({ fix: CLOSE_DEFAULT_USER }, OPEN_TO_ANYONE);
  } catch (error) {
    const plane = error instanceof PlaneError ? error : toPlaneError(error);
    // A lost connection does not fail the start here: the store retries it when it is opened.
    if (plane.code !== 'STORE_UNAVAILABLE' && plane.code !== 'STORE_FAILED') throw plane;
    log.warn({ problem: plane.message }, 'the users of Redis were not checked at this start');
  } finally {
    connection.disconnect();
  }
}
