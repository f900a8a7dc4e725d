import { PlaneError, planeError } from '../domain/errors/errors.ts';
import { asList, asText } from '../stores/redis/answers.ts';
import { openConnection, sendCommand, toPlaneError, userOf, type Connection } from '../stores/redis/connection.ts';
import { laneKeys } from '../stores/redis/keys.ts';
import { reachServer } from '../stores/redis/reach-server.ts';
import type { RedisStoreOptions } from '../stores/redis/redis-options.ts';
import { isOpenToAnyone } from '../stores/redis/default-user.ts';
import { inspectServer } from '../stores/redis/safety.ts';
import type { Check } from './check.ts';
import { inspectServerRoom } from './inspect-capacity.ts';
import { CLOSE_DEFAULT_USER, OPEN_TO_ANYONE } from './check-redis-server.ts';
import { isFounded, storeName } from './redis-store-exists.ts';

const COMMAND_TIMEOUT_MS = 5000;

export interface InspectedServer {
  readonly checks: Check[];
  /** A store exists and can be opened. */
  readonly usable: boolean;
  /** This Redis user may read the questions to approvers. */
  readonly mayReadQuestions: boolean;
}

/** Checks the server itself, including one that a worker would refuse. */
export async function inspectRedis(options: RedisStoreOptions): Promise<InspectedServer> {
  const connection = openConnection({ commandTimeoutMs: COMMAND_TIMEOUT_MS, ...options }, 'commands');
  try {
    await reachServer(connection, options, options.patienceMs ?? COMMAND_TIMEOUT_MS);
    return await inspect(connection, options);
  } catch (error) {
    const { message, fix } = error instanceof PlaneError ? error : toPlaneError(error);
    const check: Check = { name: 'server', state: 'bad', found: message, ...(fix === undefined ? {} : { fix }) };
    return { checks: [check], usable: false, mayReadQuestions: false };
  } finally {
    connection.disconnect();
  }
}

async function inspect(connection: Connection, options: RedisStoreOptions): Promise<InspectedServer> {
  const { findings, facts } = await inspectServer(connection, storeName(options));
  const cli = commandLine(options);
  const settings = ['version', 'maxmemory-policy', 'appendonly', 'default-user'];
  const checks: Check[] = [
    { name: 'server', state: 'ok', found: `version ${facts.version}${facts.cluster ? ', cluster' : ''}` },
    ...settings.map((setting): Check => {
      const finding = findings.find((candidate) => candidate.setting === setting);
      if (finding === undefined) return { name: setting, state: 'ok', found: 'as needed' };
      const fix = finding.fix.startsWith('CONFIG ') ? `${cli} ${finding.fix} && ${cli} CONFIG REWRITE` : finding.fix;
      return {
        name: setting,
        state: finding.fatal ? 'bad' : 'warn',
        found: `${finding.found}, needed ${finding.needed}`,
        fix,
      };
    }),
    await inspectAnonymous(connection, options),
    ...(await inspectDurability(connection, cli)),
    ...inspectServerRoom(asText(await sendCommand(connection, 'INFO', ['everything']))),
  ];
  const founded = await isFounded(connection, options);
  if (!founded) checks.push(describeMissing(options));
  const question = laneKeys(storeName(options), 0).approval('any');
  return {
    checks,
    usable: founded && findings.every(({ fatal }) => !fatal),
    mayReadQuestions: await mayRun(connection, ['HGET', question, 'question']),
  };
}

/**
 * Describes a missing store. If `create` is false, no process may create it: the store was
 * lost or never made, and every process is refused until it exists.
 */
function describeMissing(options: RedisStoreOptions): Check {
  const name = 'store';
  if (options.create !== false)
    return { name, state: 'warn', found: `nothing is stored under the name ${storeName(options)} yet` };
  const { message: found, fix } = planeError('STORE_MISSING', { name: storeName(options) });
  return { name, state: 'bad', found, ...(fix === undefined ? {} : { fix }) };
}

/**
 * Checks whether the server accepts connections without a password. If a user name is configured, that is an error, because the roles then
 * protect nothing. Otherwise it is a warning.
 */
async function inspectAnonymous(connection: Connection, { username }: RedisStoreOptions): Promise<Check> {
  const name = 'anonymous';
  try {
    if (!(await isOpenToAnyone(connection))) return { name, state: 'ok', found: 'refused without a password' };
  } catch (error) {
    return { name, state: 'warn', found: `not checked: ${toPlaneError(error).message}` };
  }
  return { name, state: username === undefined ? 'warn' : 'bad', found: OPEN_TO_ANYONE, fix: CLOSE_DEFAULT_USER };
}

/**
 * Reports which column of the durability table in the documentation applies, and problems of replication. A managed server may not reveal
 * its settings.
 */
async function inspectDurability(connection: Connection, cli: string): Promise<Check[]> {
  const fsync = await readAppendFsync(connection);
  const checks: Check[] = [];
  if (fsync === 'always') {
    checks.push({ name: 'durability', state: 'ok', found: 'AOF always: kill -9 and power loss lose nothing' });
  } else if (fsync === 'everysec') {
    checks.push({
      name: 'durability',
      state: 'ok',
      found:
        'AOF everysec: power loss, or kill -9 of Redis during an fsync, can lose the last two seconds, and an unsafe tool can start twice',
    });
  } else {
    checks.push({
      name: 'durability',
      state: 'warn',
      found:
        fsync === ''
          ? 'not checked: appendfsync is read with CONFIG GET, which this user may not use. Run doctor as the administrator'
          : `appendfsync ${fsync}: power loss can lose minutes`,
      ...(fsync === '' ? {} : { fix: `${cli} CONFIG SET appendfsync everysec && ${cli} CONFIG REWRITE` }),
    });
  }
  const replication = asText(await sendCommand(connection, 'INFO', ['replication']));
  if (/^role:slave/m.test(replication)) {
    checks.push({ name: 'replication', state: 'bad', found: 'this is a replica', fix: 'Connect to the primary.' });
  } else if (/^connected_slaves:[1-9]/m.test(replication)) {
    checks.push({
      name: 'replication',
      state: 'warn',
      found:
        'replicas are not waited for: when one is promoted, accepted calls can be lost and unsafe tools can start twice',
    });
  }
  return checks;
}

/** Reads `appendfsync` with CONFIG GET, because INFO has no such field. Empty when the server does not reveal it. */
async function readAppendFsync(connection: Connection): Promise<string> {
  const question = ['CONFIG', 'GET', 'appendfsync'] as const;
  if (!(await mayRun(connection, question))) return '';
  return sendCommand(connection, question[0], question.slice(1)).then(
    (answer) => asText(asList(answer)[1] ?? ''),
    () => '',
  );
}

/**
 * Checks with ACL DRYRUN whether this user may run a command. Used before a command that a
 * role may lack, because a refusal would be written to the server's ACL LOG.
 */
async function mayRun(connection: Connection, command: readonly string[]): Promise<boolean> {
  try {
    return (await sendCommand(connection, 'ACL', ['DRYRUN', userOf(connection), ...command])) === 'OK';
  } catch {
    // The server has no ACL DRYRUN, so the caller tries the command itself.
    return true;
  }
}

/** The redis-cli command with the address of the server and without the password. */
function commandLine({ url, cluster, tls }: RedisStoreOptions): string {
  const encrypted = tls === undefined ? '' : ' --tls';
  if (cluster !== undefined) return `redis-cli${encrypted} -h ${cluster[0]!.host} -p ${cluster[0]!.port}`;
  if (url === undefined) return `redis-cli${encrypted}`;
  const { protocol, hostname, port } = new URL(url);
  return `redis-cli${protocol === 'rediss:' ? ' --tls' : ''} -h ${hostname} -p ${port === '' ? '6379' : port}`;
}
