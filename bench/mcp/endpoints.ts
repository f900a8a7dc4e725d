import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openStore } from 'sallyport/testing';
import { cpuOfTree } from '../harness/cpu-of.ts';
import { ownFolder } from '../harness/left-behind.ts';
import { freePort, startRedis } from '../harness/redis-server.ts';
import { startProgram, type Program } from './start-program.ts';

/** A server that offers the tool at an address, directly or through something else. */
export interface Endpoint {
  readonly url: string;
  readonly token?: string;
  readonly about: string;
  /** CPU time of all its processes so far, in microseconds. */
  cpuUs(): number;
  stop(): Promise<void>;
}

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const MAIN = here('../../cli/main.js');
const DIRECT_SERVER = fileURLToPath(new URL('./direct-server.js', import.meta.url));
const STDIO_SERVER = fileURLToPath(new URL('./stdio-server.js', import.meta.url));
const MODULES = here('../round-trip/modules');
const ADDRESS = /http:\/\/127\.0\.0\.1:\d+/;
const TOOLS_BIN = here('../../../tools/node24/node_modules/.bin');

export const ENDPOINTS = {
  direct: openDirect,
  'mcp-proxy': openProxy,
  'sallyport-embedded': openEmbedded,
  'sallyport-redis': openRedis,
} as const;
export type EndpointName = keyof typeof ENDPOINTS;
export const ENDPOINT_NAMES = Object.keys(ENDPOINTS) as EndpointName[];

/** Whether the proxy is installed. `npm run bench` installs it on demand. */
export function hasProxy(): boolean {
  return existsSync(join(TOOLS_BIN, 'mcp-proxy'));
}

async function openDirect(): Promise<Endpoint> {
  const server = await startProgram(process.execPath, [DIRECT_SERVER], /http:\S+/);
  return endpointOf(server.found, 'a server of the official SDK over streamable HTTP, nothing between', [server]);
}

async function openProxy(): Promise<Endpoint> {
  const port = await freePort();
  const options = ['--host', '127.0.0.1', '--port', String(port), '--server', 'stream'];
  const args = [join(TOOLS_BIN, 'mcp-proxy'), ...options, '--', process.execPath, STDIO_SERVER];
  const proxy = await startProgram(join(TOOLS_BIN, 'node'), args, new RegExp(`${port}`));
  const url = `http://127.0.0.1:${port}/mcp`;
  await untilAnswers(url);
  return endpointOf(url, 'mcp-proxy before the same server over stdio: passes on, checks and keeps nothing', [proxy]);
}

const HTTP = { rate: { perSecond: 1_000_000, burst: 1_000_000 } };
const POLICY = { permissions: { 'bench.*': { allow: ['*'] } } };

async function openEmbedded(): Promise<Endpoint> {
  const folder = ownFolder();
  const config = { log: { level: 'error' }, worker: { modules: MODULES, concurrency: 128 }, gateway: { http: HTTP } };
  writeFileSync(join(folder, 'sallyport.json'), JSON.stringify(config));
  writeFileSync(join(folder, 'policy.json'), JSON.stringify(POLICY));
  const args = [MAIN, 'dev', '--http-port', '0', '--policy', 'policy.json'];
  const dev = await startProgram(process.execPath, args, ADDRESS, folder);
  const token = await makeToken(folder);
  const about = '/mcp of `sallyport dev`: every call is checked, gated, kept and audited on the disk';
  return { ...endpointOf(`${dev.found}/mcp`, about, [dev]), token };
}

async function openRedis(): Promise<Endpoint> {
  const folder = ownFolder();
  const redis = await startRedis();
  const config = {
    store: 'redis',
    redis: { url: redis.url },
    log: { level: 'error' },
    worker: { modules: MODULES, concurrency: 128, health: { enabled: false } },
    audit: { sink: 'sqlite', file: 'audit.sqlite' },
    gateway: { http: HTTP, health: { enabled: false } },
  };
  writeFileSync(join(folder, 'sallyport.json'), JSON.stringify(config));
  const store = await openStore({ store: 'redis', redis: { url: redis.url } });
  const { version, policy } = await store.readPolicy();
  await store.writePolicy({ expectedVersion: version, policy: { ...policy, ...POLICY } });
  await store.close();
  const worker = await startProgram(process.execPath, [MAIN, 'worker'], /\n/, folder);
  const gateway = await startProgram(process.execPath, [MAIN, 'gateway', '--http-port', '0'], ADDRESS, folder);
  const token = await makeToken(folder);
  const server = { pid: redis.pid, found: '', stop: () => redis.stop() };
  const about = '/mcp of a gateway, a worker and Redis, which keep the same';
  return { ...endpointOf(`${gateway.found}/mcp`, about, [gateway, worker, server]), token };
}

function endpointOf(url: string, about: string, programs: readonly Program[]): Endpoint {
  return {
    url,
    about,
    cpuUs: () => programs.reduce((sum, { pid }) => sum + cpuOfTree(pid), 0),
    async stop() {
      for (const program of programs) await program.stop();
    },
  };
}

async function makeToken(folder: string): Promise<string> {
  const who = ['--agent', 'bench', '--subject', 'bench', '--tenant', 'default'];
  const args = [MAIN, 'tokens', 'create', 'bench', '--scope', 'agent', ...who, '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder });
  return (JSON.parse(stdout) as { token: string }).token;
}

/** Waits until the server answers, because it prints its address before it listens. */
async function untilAnswers(url: string): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      await (await fetch(url, { method: 'OPTIONS' })).arrayBuffer();
      return;
    } catch (error) {
      if (tries === 200) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
