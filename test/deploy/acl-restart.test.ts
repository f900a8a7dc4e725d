import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { auditOptionsOf } from '../../src/operate/audit-options.ts';
import { startGateway } from '../../src/compose/start-gateway.ts';
import { startWorker } from '../../src/compose/start-worker.ts';
import { configSchema } from '../../src/config/config-schema.ts';
import { adoptRedisStore } from '../../src/stores/redis/adopt-store.ts';
import { DEFAULT_USER_LINE, ROLES, type Role } from '../../src/stores/redis/acl-roles.ts';
import { openRedisStore } from '../../src/stores/redis/redis-store.ts';
import { newTokenText } from '../../src/domain/identity/token-text.ts';
import { jsonOf, runCli, writeManifest } from '../cli/run-cli.ts';
import { acceptMany, claimMany, openSession, POOL, settleRequest } from '../contract/fixtures.ts';
import { temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { runRedisCli } from '../support/redis-cli.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';
import { TESTER, TESTER_LINE } from './acl-server.ts';

vi.setConfig({ testTimeout: 60_000 });

const SHIPPED = fileURLToPath(new URL('../../deploy/redis/users.acl', import.meta.url));
const CALLS = 60;

interface Users {
  readonly lines: string;
  readonly name: string;
  password(role: Role): string;
}

/** What an operator does with the shipped file: unlock each user and give it a password. */
async function shippedFile(): Promise<Users> {
  const password = (role: Role): string => `password-of-${role}`;
  const lines = ROLES.reduce(
    (text, role) =>
      text.replace(`user sallyport-${role} reset off `, `user sallyport-${role} reset on >${password(role)} `),
    readFileSync(SHIPPED, 'utf8'),
  );
  return { lines, name: 'sallyport', password };
}

let secrets: TemporaryFolder;
beforeAll(() => {
  secrets = temporaryFolder('sallyport-acl-secrets');
});
afterAll(() => {
  secrets.remove();
  failOnLeaks();
});

async function printedFile(...more: string[]): Promise<Users> {
  const passwords = join(secrets.path, 'secrets');
  const printed = await runCli(['store', 'acl', '--passwords', passwords, ...more], { cwd: secrets.path });
  expect(printed).toMatchObject({ code: 0 });
  const name = more.length === 0 ? 'sallyport' : more.at(-1)!;
  return {
    lines: printed.stdout,
    name,
    password: (role) => readFileSync(join(passwords, `${role}.password`), 'utf8').trim(),
  };
}

const FILES: readonly [what: string, make: () => Promise<Users>][] = [
  ['deploy/redis/users.acl', shippedFile],
  ['sallyport store acl --passwords', () => printedFile()],
  ['sallyport store acl --redis-name', () => printedFile('--redis-name', 'fleet:2')],
];

type Login = (role: Role) => Parameters<typeof openRedisStore>[0];

async function onServer(
  users: Users,
  work: (redis: RedisServer, as: Login, folder: TemporaryFolder) => Promise<void>,
): Promise<void> {
  const folder = temporaryFolder('sallyport-acl-restart');
  const file = join(folder.path, 'users.acl');
  writeFileSync(file, `${users.lines}${TESTER_LINE}`);
  const redis = await startRedis({ ...TESTER, extra: ['--aclfile', file] });
  const url = `redis://127.0.0.1:${redis.port}`;
  try {
    const as: Login = (role) => ({
      url,
      name: users.name,
      username: `${users.name}-${role}`,
      password: users.password(role),
      create: false,
    });
    await work(redis, as, folder);
  } finally {
    await redis.stop();
    folder.remove();
  }
}

/** Fills the store through the roles: the administrator makes it, a client adds calls, a worker settles half, a gateway creates a token. */
async function load(as: Login): Promise<void> {
  await adoptRedisStore(as('admin'), async () => undefined);
  const client = await openRedisStore(as('client'));
  const worker = await openRedisStore(as('worker'));
  const gateway = await openRedisStore(as('gateway'));
  const session = await openSession(client);
  await acceptMany(client, session, CALLS);
  const deliveries = await claimMany(worker, { lane: 0, limit: CALLS / 2 });
  for (const delivery of deliveries) expect(await worker.settleCall(settleRequest(delivery))).toBe('settled');
  const { id, secretDigest } = newTokenText();
  const token = { id, name: 'console', scopes: ['admin'] as const };
  await gateway.createToken({ token, secretDigest, lifetimeMs: 3_600_000 });
  for (const store of [client, worker, gateway]) await store.close();
}

/** The server's own digest of all keys and values. */
const digestOf = (redis: RedisServer): Promise<string> => redis.cli('DEBUG', 'DIGEST');
const anonymously = (redis: RedisServer, ...command: string[]): Promise<string> =>
  runRedisCli({ port: redis.port }, command);

describe('Redis with the users that we ship and print', () => {
  it.each(FILES)(
    'loses nothing when it is restarted or killed after load, and lets nobody in without a password: %s',
    async (_, make) => {
      await onServer(await make(), async (redis, as) => {
        await load(as);
        const before = await digestOf(redis);
        await redis.restart();
        expect(await digestOf(redis)).toBe(before);
        await redis.kill('SIGKILL');
        await redis.restart();
        expect(await digestOf(redis)).toBe(before);
        const worker = await openRedisStore(as('worker'));
        expect((await worker.listCalls({ limit: 2 * CALLS })).length).toBe(CALLS / 2);
        await worker.close();
        for (const command of [['PING'], ['ACL', 'WHOAMI'], ['DBSIZE'], ['FLUSHALL']])
          await expect(anonymously(redis, ...command)).rejects.toThrow('NOAUTH');
        await expect(anonymously(redis, 'AUTH', 'default', '')).rejects.toThrow('WRONGPASS');
        expect(await digestOf(redis)).toBe(before);
      });
    },
  );
});

/** The printed users with another line for the default user. */
async function withDefault(line: string): Promise<Users> {
  const users = await printedFile();
  return { ...users, lines: users.lines.replace(DEFAULT_USER_LINE, line) };
}

describe('a default user that cannot replay the append-only file', () => {
  it('loses what was in transactions at a restart, which is why it is refused', async () => {
    await onServer(await withDefault(DEFAULT_USER_LINE), async (redis, as, folder) => {
      await load(as);
      const before = await digestOf(redis);
      const path = join(folder.path, 'users.acl');
      const closed = readFileSync(path, 'utf8').replace(DEFAULT_USER_LINE, 'user default off resetpass -@all');
      writeFileSync(path, closed);
      await redis.restart();
      expect(await digestOf(redis)).not.toBe(before);
    });
  });

  it('is refused at every start, and found by doctor', async () => {
    await onServer(await withDefault(DEFAULT_USER_LINE), async (redis, as) => {
      const cases: readonly [rule: string, reason: string][] = [
        ['-@all', "run the 'del' command"],
        ['-xadd', "run the 'xadd' command"],
        ['-xgroup|setid', "run the 'xgroup|setid' command"],
        ['resetkeys', "access the '{sallyport:0}:meta' key"],
      ];
      for (const [rule, reason] of cases) {
        await redis.cli('ACL', 'SETUSER', 'default', 'reset', '~*', '&*', '+@all');
        await redis.cli('ACL', 'SETUSER', 'default', rule);
        for (const role of ROLES) {
          const opening = openRedisStore(as(role));
          await expect(opening).rejects.toMatchObject({ code: 'STORE_UNSAFE' });
          await expect(opening).rejects.toThrow(reason);
        }
      }
      expect(await redis.cli('DBSIZE')).toBe('0');
      const check = { name: 'default-user', state: 'bad', fix: expect.stringContaining(DEFAULT_USER_LINE) as string };
      expect(await checksOf(redis)).toContainEqual(expect.objectContaining(check));
    });
  });

  it('is reported as not checked by a server that does not answer the question, and nothing is refused', async () => {
    const users = await withDefault(DEFAULT_USER_LINE);
    const without = { ...users, lines: users.lines.replaceAll(' +acl|dryrun', '') };
    await onServer(without, async (redis, as) => {
      await adoptRedisStore(as('admin'), async () => undefined);
      await (await openRedisStore(as('worker'))).close();
      const found = expect.stringContaining('not checked, because this user may not ask ACL DRYRUN') as string;
      expect(await checksOf(redis)).toContainEqual(
        expect.objectContaining({ name: 'default-user', state: 'warn', found }),
      );
    });
  });
});

interface ShownCheck {
  readonly name: string;
  readonly state: string;
  readonly found: string;
  readonly fix?: string;
}

async function checksOf(redis: RedisServer, role: Role = 'monitor'): Promise<ShownCheck[]> {
  const env = {
    SALLYPORT_STORE: 'redis',
    SALLYPORT_REDIS_URL: `redis://127.0.0.1:${redis.port}`,
    SALLYPORT_REDIS_USERNAME: `sallyport-${role}`,
    SALLYPORT_REDIS_PASSWORD_FILE: join(secrets.path, 'secrets', `${role}.password`),
  };
  return jsonOf(await runCli(['doctor', '--json'], { cwd: secrets.path, env }))['checks'] as ShownCheck[];
}

describe('a default user without a password', () => {
  it('is found by doctor, and logged by a worker and a gateway that start; a closed one is not', async () => {
    await onServer(await withDefault(DEFAULT_USER_LINE), async (redis, as, folder) => {
      await adoptRedisStore(as('admin'), async () => undefined);
      const stateOf = async (name: string) => (await checksOf(redis)).find((check) => check.name === name);
      expect(await stateOf('anonymous')).toMatchObject({ state: 'ok' });
      expect(await warningsOf('worker', as('worker'), folder)).toStrictEqual([]);
      await redis.cli('ACL', 'SETUSER', 'default', 'on', 'nopass');
      const fix = expect.stringContaining(DEFAULT_USER_LINE) as string;
      expect(await stateOf('anonymous')).toMatchObject({ state: 'bad', fix });
      const warning = expect.stringContaining('Redis accepts connections without a password') as string;
      expect(await warningsOf('worker', as('worker'), folder)).toStrictEqual([warning]);
      expect(await warningsOf('gateway', as('gateway'), folder)).toStrictEqual([warning]);
    });
  });
});

/** What a worker or a gateway logs as a warning while it starts and drains. */
async function warningsOf(
  start: 'worker' | 'gateway',
  redis: Parameters<typeof openRedisStore>[0],
  folder: TemporaryFolder,
): Promise<string[]> {
  const warned: string[] = [];
  const quiet = (): void => undefined;
  const log = {
    debug: quiet,
    info: quiet,
    error: quiet,
    warn: (_: object, message: string) => void warned.push(message),
  };
  const common = { store: 'redis', redis, health: false, log } as const;
  const config = configSchema.parse({
    store: 'redis',
    folder: folder.path,
    audit: { sink: 'sqlite', file: join(folder.path, 'audit.sqlite') },
  });
  const running =
    start === 'worker'
      ? await startWorker({ ...common, modules: writeManifest(folder.path), pool: POOL })
      : await startGateway({ ...common, audit: auditOptionsOf(config) });
  await running.drain();
  return warned;
}
