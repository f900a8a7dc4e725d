import { openConnection, toPlaneError, type Connection, type LoadedLibrary } from './connection.ts';
import { foundDeploymentLane, readIncarnation } from './incarnation-record.ts';
import { loadLibrary, readFunctions, type StoreFunction } from './function-library.ts';
import { reachServer } from './reach-server.ts';
import type { RedisConnectionOptions, RedisStoreOptions } from './redis-options.ts';
import { refuseUnsafeServer, type ServerFacts } from './safety.ts';

export interface ReachedServer {
  readonly name: string;
  readonly commands: Connection;
  readonly connection: RedisConnectionOptions;
  readonly facts: ServerFacts;
}

/** Opens a connection for work on the store as a whole, which does not go through the store's ports, and closes it afterwards. */
export async function withServer<Result>(
  options: RedisStoreOptions,
  work: (server: ReachedServer) => Promise<Result>,
): Promise<Result> {
  const connection: RedisConnectionOptions = { commandTimeoutMs: 10_000, ...options };
  const commands = openConnection(connection, 'commands');
  try {
    await reachServer(commands, connection, options.patienceMs ?? 15_000);
    const name = options.name ?? 'sallyport';
    const facts = await refuseUnsafeServer(commands, name);
    return await work({ name, commands, connection, facts });
  } catch (error) {
    throw toPlaneError(error);
  } finally {
    commands.disconnect();
  }
}

/** Loads this release's functions next to those of other releases, so that users without the right to load functions can start. */
export async function upgradeLibrary({ commands, name }: ReachedServer): Promise<LoadedLibrary> {
  const answer = await loadLibrary(commands, readFunctions());
  const record = await readIncarnation(commands, name);
  if (record !== undefined && record.condition === undefined) await foundDeploymentLane(commands, name, record.id);
  return answer;
}

export async function loadedFunctions({ commands }: ReachedServer): Promise<ReadonlyMap<string, StoreFunction>> {
  const functions = readFunctions();
  await loadLibrary(commands, functions);
  return functions;
}
