import { writeFileSync } from 'node:fs';
import { openStore, type StoreOptions } from '../../src/operate/open-store.ts';
import type { Identity } from '../../src/domain/identity/session.ts';
import type { Store } from '../../src/domain/ports/store.ts';
import { planeFolder, type PlaneFolder } from '../cli/plane-folder.ts';
import { startCli } from '../cli/run-cli.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';
import { createToken, type MadeToken, type TokenWish } from '../support/create-token.ts';
import type { WatchedProcess } from '../support/watched-process.ts';

export interface FixtureOptions {
  readonly store?: 'embedded' | 'redis';
  /** Configuration of the gateway's process, for instance below `gateway.http`. The plane has the same one. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Replaces the modules of `test/cli`. */
  readonly modules?: string;
  readonly logLevel?: 'debug' | 'info' | 'warn';
  /** The lanes of a Redis store. Default: the default of a single server. */
  readonly lanes?: number;
  /** Environment variables of the gateway's process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A real plane (one process) and a real gateway (another process), so that the gateway can be killed alone. */
export interface GatewayFixture {
  readonly url: string;
  readonly port: number;
  /** The folder in which both processes run; its `cli` runs commands on the same store. */
  readonly folder: PlaneFolder;
  /** A connection to the store for the test itself. */
  readonly store: Store;
  /** Undefined if the store is embedded. */
  readonly redis: RedisServer | undefined;
  /** The gateway's process; a new one after a restart. */
  readonly gateway: WatchedProcess;
  makeToken(wish: TokenWish): Promise<MadeToken>;
  /** Creates an agent's token: by default `assistant` for `local` of the tenant `default`. */
  agentToken(identity?: Partial<Identity>): Promise<MadeToken>;
  /** `fetch` of a path with this token. `json` is sent as JSON. */
  request(path: string, init?: RequestWish): Promise<Response>;
  /** Ends the gateway with SIGTERM or SIGKILL, and starts another process on the same port. */
  restart(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  stop(): Promise<void>;
}

export interface RequestWish extends Omit<RequestInit, 'body' | 'headers'> {
  readonly token?: MadeToken | undefined;
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Long, because the machine may be busy with other tests. */
const START_MS = 90_000;
const READY = /^Console: (http:\/\/\S+?):(\d+) /;

export async function startGatewayFixture(options: FixtureOptions = {}): Promise<GatewayFixture> {
  const { store: kind = 'embedded' } = options;
  const redis = kind === 'redis' ? await startRedis() : undefined;
  const folder = planeFolder();
  writeFileSync(folder.file('sallyport.json'), JSON.stringify(configOf(options, redis)));
  const plane = await startPlane(folder, options, redis);
  const store = await openStore(storeOptionsOf(folder, redis));
  let gateway = await startGateway(folder, 0, options.env);
  const [, , port] = READY.exec(await gateway.waitForLine(READY, START_MS))!;
  const url = `http://127.0.0.1:${port}`;

  const makeToken = (wish: TokenWish): Promise<MadeToken> => createToken(store, wish);

  return {
    url,
    port: Number(port),
    folder,
    store,
    redis,
    get gateway() {
      return gateway;
    },
    makeToken,
    agentToken: (identity = {}) => makeToken({ scopes: ['agent'], identity }),
    request: (path, { token, json, headers, ...init } = {}) =>
      fetch(`${url}${path}`, {
        redirect: 'manual',
        ...init,
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
        headers: {
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
          ...(token === undefined ? {} : { authorization: `Bearer ${token.text}` }),
          ...headers,
        },
      }),
    async restart(signal = 'SIGTERM') {
      gateway.kill(signal);
      await gateway.exited;
      gateway = await startGateway(folder, Number(port), options.env);
    },
    async stop() {
      await gateway.stop();
      await store.close();
      await plane.stop();
      folder.remove();
      await redis?.stop();
    },
  };
}

function configOf({ config, lanes, logLevel = 'info' }: FixtureOptions, redis: RedisServer | undefined): object {
  const audit = { sink: 'sqlite', file: 'audit.sqlite' };
  const place = { url: redis?.url, ...(lanes === undefined ? {} : { lanes }) };
  const where = redis === undefined ? {} : { store: 'redis', redis: place, audit };
  return { log: { level: logLevel }, telemetry: { metrics: { enabled: true } }, ...where, ...config };
}

function storeOptionsOf(folder: PlaneFolder, redis: RedisServer | undefined): StoreOptions {
  if (redis !== undefined) return { store: 'redis', redis: { url: redis.url } };
  return { store: 'embedded', folder: folder.file('.sallyport'), mode: 'connect' };
}

/** Starts the plane. Its policy allows every subject every tool, as a new `dev` does. */
async function startPlane(
  folder: PlaneFolder,
  { modules }: FixtureOptions,
  redis: RedisServer | undefined,
): Promise<WatchedProcess> {
  const command = redis === undefined ? 'dev' : 'worker';
  const plane = await startCli([command, '--modules', modules ?? folder.modules], {
    cwd: folder.path,
    env: { SALLYPORT_GATEWAY_HTTP_ENABLED: 'false' },
  });
  await plane.waitForLine(/^Ctrl-C ends it|^Health: /, START_MS);
  if (redis === undefined) return plane;
  writeFileSync(folder.file('open.json'), '{"permissions":{"*":{"allow":["*"]}}}');
  const set = await folder.cli('policy', 'set', 'open.json');
  if (set.code !== 0) throw new Error(set.stderr);
  return plane;
}

async function startGateway(
  folder: PlaneFolder,
  port: number,
  env: FixtureOptions['env'] = {},
): Promise<WatchedProcess> {
  const gateway = await startCli(['gateway', '--http-port', String(port)], { cwd: folder.path, env });
  await gateway.waitForLine(READY, START_MS);
  return gateway;
}
