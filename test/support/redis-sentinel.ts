import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, freePort, temporaryFolder } from './process.ts';
import { INSTALL_REDIS, runRedisCli } from './redis-cli.ts';
import { startRedis, type RedisServer } from './redis-server.ts';
import { startProgram, type WatchedProcess } from './watched-process.ts';

interface Address {
  readonly host: string;
  readonly port: number;
}

export interface SentinelGroup {
  /** The group's name, for a client's `name` option. */
  readonly name: string;
  /** The addresses for a client's `sentinels` option. */
  readonly sentinels: readonly Address[];
  /** The two servers by the roles they started with. A failover swaps the roles, not these fields. */
  readonly firstPrimary: RedisServer;
  readonly firstReplica: RedisServer;
  /** The primary that the sentinels currently report to clients. */
  currentPrimary(): Promise<Address>;
  /** Kills the current primary with SIGKILL and returns it; `restart()` brings it back as a stale primary. */
  killPrimary(): Promise<RedisServer>;
  /** Resolves when every sentinel reports another primary than `before` and that server accepts writes. */
  waitForFailover(before: Address): Promise<Address>;
  stop(): Promise<void>;
}

const NAME = 'sallyport';
const DOWN_AFTER_MS = 1_200;
// The usual periods are made for networks (INFO every 10 s, hello every 2 s); on loopback they only make tests wait.
// ping-period depends on DOWN_AFTER_MS: links reconnect once per period, so a third of that time keeps a sentinel
// from declaring a server down that it has only just met. Also, a replica that was not heard of for five periods is not promoted,
// which happens on a busy machine with periods below 300.
const QUICK_PERIODS = Object.entries({
  'info-period': 200,
  'publish-period': 200,
  'ping-period': 400,
  'ask-period': 100,
  'min-link-reconnect-period': 100,
  'election-timeout': 1000,
  // A pause of 2 s (a slow fsync is enough) would make a sentinel distrust its clock and do nothing for 30 s.
  'tilt-trigger': 60_000,
}).flatMap(([name, periodMs]) => [name, String(periodMs)]);

/** Starts a primary, its replica and one or three sentinels that fail over within two or three seconds. */
export async function startSentinel({ count = 1 }: { count?: 1 | 3 } = {}): Promise<SentinelGroup> {
  const servers: RedisServer[] = [];
  const sentinels: Sentinel[] = [];
  const stop = async (): Promise<void> => {
    // Sentinels stop first: they would try a failover while the servers stop.
    await Promise.all(sentinels.map((sentinel) => sentinel.stop()));
    await Promise.all(servers.map((server) => server.stop()));
  };
  try {
    const firstPrimary = await startRedis();
    servers.push(firstPrimary);
    const firstReplica = await startRedis({ extra: ['--replicaof', `127.0.0.1 ${firstPrimary.port}`] });
    servers.push(firstReplica);
    await eventually(async () => (await firstPrimary.cli('INFO', 'replication')).includes('state=online'), {
      what: 'the replica to finish its first sync',
    });
    const quorum = Math.floor(count / 2) + 1;
    for (let index = 0; index < count; index += 1) sentinels.push(await startOneSentinel(firstPrimary.port, quorum));
    await Promise.all(sentinels.map((sentinel) => waitUntilItSeesAll(sentinel, count)));

    const [first] = sentinels;
    if (first === undefined) throw new Error('A group needs a sentinel');
    const currentPrimary = (): Promise<Address> => askForPrimary(first.port);
    return {
      name: NAME,
      sentinels: sentinels.map(({ port }) => ({ host: '127.0.0.1', port })),
      firstPrimary,
      firstReplica,
      currentPrimary,
      killPrimary: async () => {
        const { port } = await currentPrimary();
        const primary = port === firstPrimary.port ? firstPrimary : firstReplica;
        await primary.kill('SIGKILL');
        return primary;
      },
      waitForFailover: async (before) => {
        try {
          return await eventually(() => newPrimary(sentinels, before), {
            what: `a primary other than ${before.port}`,
          });
        } catch (cause) {
          // Only their logs show why sentinels do not act (split vote, no good replica, tilt).
          throw new Error(`No failover:\n${sentinels.map((sentinel) => sentinel.log()).join('\n')}`, { cause });
        }
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Sentinel {
  readonly port: number;
  log(): string;
  stop(): Promise<void>;
}

async function startOneSentinel(primaryPort: number, quorum: number): Promise<Sentinel> {
  const folder = temporaryFolder('sallyport-sentinel');
  const port = await freePort();
  // A sentinel keeps its state by rewriting this file, so it cannot get everything from the command line.
  const configuration = join(folder.path, 'sentinel.conf');
  writeFileSync(
    configuration,
    [
      `port ${port}`,
      'bind 127.0.0.1',
      `dir ${folder.path}`,
      `sentinel monitor ${NAME} 127.0.0.1 ${primaryPort} ${quorum}`,
      `sentinel down-after-milliseconds ${NAME} ${DOWN_AFTER_MS}`,
      `sentinel failover-timeout ${NAME} 2000`,
      '',
    ].join('\n'),
  );
  const child = await startProgram('redis-server', [configuration, '--sentinel'], { installHint: INSTALL_REDIS });
  const stop = async (): Promise<void> => {
    await child.stop(0);
    folder.remove();
  };
  try {
    await answersPing(child, port);
    await runRedisCli({ port }, ['SENTINEL', 'DEBUG', ...QUICK_PERIODS]);
  } catch (error) {
    await stop();
    throw error;
  }
  return { port, log: () => child.stdout, stop };
}

async function answersPing(child: WatchedProcess, port: number): Promise<void> {
  const state = await eventually(
    async () => (child.exit === undefined ? (await runRedisCli({ port }, ['PING'])) === 'PONG' && 'ready' : 'ended'),
    { what: `the sentinel on port ${port} to answer PING` },
  );
  if (state === 'ended') throw new Error(`The sentinel ended at its start: ${child.stdout}${child.stderr}`);
}

/** A sentinel cannot fail over before it knows the replica and its peers, so a test that kills at once would hang. */
async function waitUntilItSeesAll({ port }: Sentinel, count: number): Promise<void> {
  await eventually(
    async () => {
      const lines = (await runRedisCli({ port }, ['SENTINEL', 'MASTER', NAME])).split('\n');
      const field = (name: string): string | undefined => lines[lines.indexOf(name) + 1];
      return field('num-slaves') === '1' && field('num-other-sentinels') === String(count - 1);
    },
    { what: 'the sentinels to find the replica and each other' },
  );
}

async function askForPrimary(sentinelPort: number): Promise<Address> {
  const answer = await runRedisCli({ port: sentinelPort }, ['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME]);
  const [host = '', port = ''] = answer.split('\n');
  return { host, port: Number(port) };
}

async function newPrimary(sentinels: readonly Sentinel[], before: Address): Promise<Address | undefined> {
  const named = await Promise.all(sentinels.map(({ port }) => askForPrimary(port)));
  const [first] = named;
  if (first === undefined || first.port === before.port) return undefined;
  if (named.some(({ port }) => port !== first.port)) return undefined;
  return (await runRedisCli({ port: first.port }, ['ROLE'])).startsWith('master') ? first : undefined;
}
