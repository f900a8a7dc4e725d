import { DEPLOYMENT_LANE } from '../../domain/audit/audit-record.ts';
import { planeError, type PlaneError } from '../../domain/errors/errors.ts';
import {
  openConnection,
  sendCommand,
  sendForBytes,
  sendTogether,
  toPlaneError,
  untilReady,
  type Connection,
} from './connection.ts';
import {
  callFunction,
  functionCommand,
  loadLibrary,
  type FunctionCall,
  type StoreFunction,
} from './function-library.ts';
import type { RedisConnectionOptions } from './redis-options.ts';
import { deploymentKeys, laneKeys, type DeploymentKeys, type LaneKeys } from './keys.ts';
import { pause } from '../../base/pause.ts';

type Argument = string | Buffer;

/** What every part of the Redis store works with. */
export interface RedisContext {
  readonly lanes: number;
  readonly incarnation: string;
  readonly deployment: DeploymentKeys;
  lane(lane: number): LaneKeys;
  /**
   * Calls a function of the library. Retries while the store cannot be reached, for up to `patienceMs`. Every function allows to be called
   * again after a lost answer.
   */
  fcall(name: string, call: FunctionCall): Promise<unknown>;
  command(name: string, ...args: Argument[]): Promise<unknown>;
  commandForBytes(name: string, ...args: Argument[]): Promise<unknown>;
  /**
   * Sends commands that may block in the server, on a connection of their own. A function call can be sent in one write with the read
   * before it.
   */
  blockingRead(
    use: string,
    commands: readonly (readonly [string, ...Argument[]])[],
    waitMs: number,
  ): Promise<unknown[]>;
  /** Returns the command for a function, to be sent after a blocking read. */
  fcallCommand(name: string, call: FunctionCall): [string, ...Argument[]];
  close(): Promise<void>;
}

export interface ContextOptions {
  readonly name: string;
  readonly lanes: number;
  readonly incarnation: string;
  readonly connection: RedisConnectionOptions;
  readonly commands: Connection;
  readonly functions: ReadonlyMap<string, StoreFunction>;
  /** How long a request is retried while the store cannot be reached. */
  readonly patienceMs: number;
}

/** If a blocking read takes this much longer than the wait it requested, its connection is taken for dead and closed. */
const BLOCKING_GRACE_MS = 5000;
/**
 * A blocking connection without a read for this long is closed, so that a process that once waited for a reply does not keep it for ever.
 */
const IDLE_AFTER_MS = 30_000;

interface BlockingConnection {
  readonly connection: Connection;
  reads: number;
  idle: NodeJS.Timeout | undefined;
}

export function createRedisContext(options: ContextOptions): RedisContext {
  const { commands, functions } = options;
  const keysOfLanes = Array.from({ length: options.lanes }, (_, lane) => laneKeys(options.name, lane));
  const keysOfDeployment = laneKeys(options.name, DEPLOYMENT_LANE);
  const blocking = new Map<string, BlockingConnection>();
  let closed = false;

  async function withRetries<Answer>(send: () => Promise<Answer>): Promise<Answer> {
    const giveUpAt = performance.now() + options.patienceMs;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await send();
      } catch (error) {
        const plane = toPlaneError(error);
        const timeLeftMs = giveUpAt - performance.now();
        // The server lost the library: it was flushed, or a replica without it took over. Loading it again is safe, because each function
        // first checks that the store has the expected incarnation.
        if (isFunctionMissing(plane) && timeLeftMs > 0) {
          await loadLibrary(commands, functions);
          continue;
        }
        if (closed || plane.code !== 'STORE_UNAVAILABLE' || timeLeftMs <= 0) throw plane;
        await untilReady(commands, timeLeftMs);
        // The server answers, but cannot work now (loading, failover): wait before the next attempt.
        if (attempt > 1) await pause(Math.min(25 * attempt, 500));
      }
    }
  }

  function find(name: string): StoreFunction {
    const found = functions.get(name);
    if (found === undefined) throw planeError('INTERNAL', { problem: `there is no store function ${name}` });
    return found;
  }

  function takeBlocking(use: string): BlockingConnection {
    let taken = blocking.get(use);
    if (taken === undefined) {
      taken = { connection: openConnection(options.connection, 'blocking'), reads: 0, idle: undefined };
      blocking.set(use, taken);
    }
    clearTimeout(taken.idle);
    taken.reads += 1;
    return taken;
  }

  function giveBack(use: string, taken: BlockingConnection): void {
    taken.reads -= 1;
    if (taken.reads > 0 || closed) return;
    const leave = (): void => {
      blocking.delete(use);
      taken.connection.disconnect();
    };
    taken.idle = setTimeout(leave, IDLE_AFTER_MS).unref();
  }

  return {
    lanes: options.lanes,
    incarnation: options.incarnation,
    deployment: deploymentKeys(options.name),
    lane(lane) {
      const keys = lane === DEPLOYMENT_LANE ? keysOfDeployment : keysOfLanes[lane];
      if (keys === undefined) throw planeError('STORE_LANES', { configured: lane + 1, found: options.lanes });
      return keys;
    },
    fcall: (name, call) => {
      const found = find(name);
      return withRetries(() => callFunction(commands, found, call));
    },
    command: (name, ...args) => withRetries(() => sendCommand(commands, name, args)),
    commandForBytes: (name, ...args) => withRetries(() => sendForBytes(commands, name, args)),
    async blockingRead(use, list, waitMs) {
      const taken = takeBlocking(use);
      const { connection } = taken;
      let timer: NodeJS.Timeout | undefined;
      try {
        if (connection.status !== 'ready') await untilReady(connection, options.patienceMs);
        timer = setTimeout(() => connection.disconnect(true), waitMs + BLOCKING_GRACE_MS);
        return await sendTogether(connection, list);
      } catch (error) {
        throw toPlaneError(error);
      } finally {
        clearTimeout(timer);
        giveBack(use, taken);
      }
    },
    fcallCommand: (name, call) => functionCommand(find(name), call),
    async close() {
      closed = true;
      commands.disconnect();
      for (const { connection, idle } of blocking.values()) {
        clearTimeout(idle);
        connection.disconnect();
      }
    },
  };
}

function isFunctionMissing(error: PlaneError): boolean {
  return error.code === 'STORE_FAILED' && error.message.includes('Function not found');
}
