import { setTimeout as pause } from 'node:timers/promises';
import type { RedisServer } from '../../test/support/redis-server.ts';
import { LEASE_MS } from '../stage/stage.ts';
import { monotonicMs } from '../workload/monotonic.ts';
import type { Fault, FaultRun } from './fault.ts';

interface ServerFault {
  readonly kind: string;
  readonly weight: number;
  readonly about: string;
  /** Returns the detail for the record of the fault. */
  act(redis: RedisServer, force: number): Promise<string>;
}

const SQUEEZED_BYTES = 64 * 1024;

const SERVER_FAULTS: readonly ServerFault[] = [
  {
    kind: 'client-kill',
    weight: 4,
    about: 'CLIENT KILL TYPE normal: every connection is cut',
    act: async (redis) => `${await redis.cli('CLIENT', 'KILL', 'TYPE', 'normal')} connections`,
  },
  {
    kind: 'client-pause',
    weight: 3,
    about: 'CLIENT PAUSE for 0.1 to 1.5 leases',
    async act(redis, force) {
      const forMs = Math.round(LEASE_MS * (0.1 + 1.4 * force));
      await redis.cli('CLIENT', 'PAUSE', String(forMs), force < 0.5 ? 'ALL' : 'WRITE');
      await pause(forMs);
      return `${forMs} ms`;
    },
  },
  {
    kind: 'slow-server',
    weight: 3,
    about: 'DEBUG SLEEP for 0.1 to 1.5 leases: the server does nothing at all',
    async act(redis, force) {
      const forMs = Math.round(LEASE_MS * (0.1 + 1.4 * force));
      await redis.cli('DEBUG', 'SLEEP', String(forMs / 1000));
      return `${forMs} ms`;
    },
  },
  {
    kind: 'script-flush',
    weight: 1,
    about: 'SCRIPT FLUSH',
    act: (redis) => redis.cli('SCRIPT', 'FLUSH'),
  },
  {
    kind: 'function-flush',
    weight: 2,
    about: 'FUNCTION FLUSH: the library is loaded again by whoever needs it next',
    act: (redis) => redis.cli('FUNCTION', 'FLUSH'),
  },
  {
    kind: 'redis-kill',
    weight: 3,
    about: 'kill -9 of Redis, and a restart on the same folder',
    async act(redis) {
      await redis.kill('SIGKILL');
      await redis.restart();
      return '';
    },
  },
  {
    kind: 'squeeze-memory',
    weight: 2,
    about: 'maxmemory is set to what is used and 64 KB, and lifted again',
    async act(redis, force) {
      const used = Number(/used_memory:(\d+)/.exec(await redis.cli('INFO', 'memory'))?.[1]);
      await redis.cli('CONFIG', 'SET', 'maxmemory', String(used + SQUEEZED_BYTES));
      await pause(300 + 700 * force);
      await redis.cli('CONFIG', 'SET', 'maxmemory', '0');
      return `to ${used + SQUEEZED_BYTES} bytes`;
    },
  },
];

export const FAULTS_ON_REDIS: readonly Fault[] = SERVER_FAULTS.map((fault) => ({
  kind: fault.kind,
  weight: fault.weight,
  about: fault.about,
  async act({ stage, planned, record }: FaultRun) {
    Object.assign(record, { target: 'redis', toMs: Infinity });
    record.detail = await fault.act(stage.redis!, planned.force);
    record.toMs = monotonicMs();
    return 'done';
  },
}));
