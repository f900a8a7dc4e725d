import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nearNames } from '../base/near-names.ts';
import { DEFAULT_ADMISSION, DEFAULT_RETENTION_MS } from '../operate/defaults.ts';
import { PlaneError } from '../domain/errors/errors.ts';
import { loadConfig, type ConfigRequest, type LoadedConfig } from './load-config.ts';
import { OPTION_ROWS } from './option-rows.ts';
import { showConfig } from './show-config.ts';

let cwd: string;
beforeEach(() => void (cwd = mkdtempSync(join(tmpdir(), 'sallyport-config-'))));
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const load = (more: Partial<ConfigRequest> = {}): LoadedConfig =>
  loadConfig({ env: {}, cwd, near: nearNames, ...more });
const write = (text: string, name = 'sallyport.yaml'): string => {
  writeFileSync(join(cwd, name), text);
  return join(cwd, name);
};
function problemsOf(more: Partial<ConfigRequest> = {}): string {
  try {
    load(more);
  } catch (error) {
    if (!(error instanceof PlaneError) || error.code !== 'CONFIG_INVALID') throw error;
    return error.message.replaceAll(`${cwd}/`, '');
  }
  throw new Error('The configuration was accepted.');
}

describe('loadConfig', () => {
  it('has the defaults of the parts it configures', () => {
    const { config, file } = load();
    expect(file).toBeUndefined();
    expect(config.admission).toStrictEqual({ ...DEFAULT_ADMISSION });
    expect(config.worker.retentionMs).toBe(DEFAULT_RETENTION_MS);
    expect(config.folder).toBe(join(cwd, '.sallyport'));
    expect(config.worker).toMatchObject({ leaseMs: 15_000, concurrency: 64, pool: 'default' });
  });

  it('prefers flags to the environment, that to the file, and that to the default, and knows which it was', () => {
    write('worker:\n  leaseMs: 6000\n  concurrency: 1\n  pool: file\n');
    const env = { SALLYPORT_WORKER_CONCURRENCY: '2', SALLYPORT_WORKER_POOL: 'env' };
    const loaded = load({ env, flags: { 'worker.pool': 'flag' } });
    expect(loaded.config.worker).toMatchObject({ leaseMs: 6000, concurrency: 2, pool: 'flag', graceMs: 30_000 });
    const source = (path: string) => loaded.sources.get(path);
    expect(source('worker.leaseMs')).toStrictEqual({ kind: 'file', where: join(cwd, 'sallyport.yaml:2:12') });
    expect(source('worker.concurrency')).toStrictEqual({ kind: 'env', where: 'SALLYPORT_WORKER_CONCURRENCY' });
    expect(source('worker.pool')).toStrictEqual({ kind: 'flag', where: '--pool' });
    expect(source('worker.graceMs')).toStrictEqual({ kind: 'default', where: '' });
  });

  it('takes paths of a file relative to that file, and others relative to the working directory', () => {
    const file = write('folder: data\nworker: { modules: ./tools }\n');
    const { config } = load({ cwd: '/', file, flags: { policyFile: 'policy.json' } });
    expect(config.folder).toBe(join(cwd, 'data'));
    expect(config.worker.modules).toBe(join(cwd, 'tools'));
    expect(config.policyFile).toBe('/policy.json');
  });

  it('reads a value that is one placeholder as the type of its option', () => {
    write('worker: { leaseMs: "${LEASE}", pool: "p-${NAME:-x}" }\n');
    const { worker } = load({ env: { LEASE: '9000' } }).config;
    expect(worker).toMatchObject({ leaseMs: 9000, pool: 'p-x' });
  });

  it.each(['redis://u:hush@127.0.0.1:99999', 'redis://:hush@@@', 'redis://u:hush@[::1', 'http://u:hush@h'])(
    'refuses %s as an address of Redis by the name of its option, without the password',
    (address) => {
      const problems = problemsOf({ env: { SALLYPORT_STORE: 'redis', SALLYPORT_REDIS_URL: address } });
      expect(problems).toContain('SALLYPORT_REDIS_URL: redis.url: expected a redis:// or rediss:// address');
      expect(problems).not.toContain('hush');
    },
  );

  it('masks secrets wherever they come from', () => {
    write('store: redis\nredis:\n  url: redis://me:${SECRET}@127.0.0.1:1\n');
    const shown = showConfig(load({ env: { SECRET: 'hush' } }));
    expect(shown.find(({ option }) => option === 'redis.url')?.value).toBe('redis://me:***@127.0.0.1:1');
    const other = showConfig(
      load({ file: write('store: redis', 'b.yaml'), env: { SALLYPORT_REDIS_PASSWORD: 'hush' } }),
    );
    expect(JSON.stringify([shown, other])).not.toContain('hush');
  });

  it('gives every option a sentence, and every option another environment name', () => {
    expect(new Set(OPTION_ROWS.map(({ env }) => env)).size).toBe(OPTION_ROWS.length);
    for (const { sentence } of OPTION_ROWS) expect(sentence).toMatch(/^[A-Z`].*\.$/);
    expect(OPTION_ROWS.map(({ env }) => env)).toContain('SALLYPORT_WORKER_HEARTBEAT_MS');
  });

  it.each([
    ['worker:\n  leaseMs: 1000\n  heartbeatMs: 500\n', /worker\.heartbeatMs 500 must be ≤ leaseMs\/3 \(333\)/],
    ['worker: { retentionMs: 60000 }', /retentionMs 60000 must be ≥ 24 hours \(86400000\)/],
    ['admission: { liveBytes: 1000 }', /liveBytes 1000 must be ≥ .* \(1048576\)/],
    ['admission: { liveCalls: 10 }', /subjectWindow 64 must be ≤ liveCalls \(10\)/],
    ['gateway: { mcp: { owedMs: 86400001 } }', /gateway.mcp.owedMs 86400001 must be ≤ worker.retentionMs \(86400000\)/],
    ['worker: { health: { host: 0.0.0.0 } }', /health\.host 0\.0\.0\.0 can be reached from outside/],
    ['redis: { url: "redis://h" }', /redis\.url is given, but the store is embedded/],
    ['store: redis\nredis: { url: "redis://h", cluster: [{ host: a, port: 1 }] }', /exclude each other/],
    ['store: redis\nredis: { sentinels: [{ host: a, port: 1 }] }', /needs redis\.sentinelName/],
    ['store: redis\nredis: { tls: { certFile: a.pem } }', /need each other/],
    ['store: redis\nredis: { url: "redis://h", tls: { enabled: true } }', /write rediss:/],
    ['store: redis\nredis: { password: "${P}", passwordFile: x }', /exclude each other/],
  ])('refuses together what is fine alone: %s', (text, problem) => {
    write(text);
    expect(problemsOf({ env: { P: 'x' } })).toMatch(problem);
  });

  it('allows a health address for others when that is said', () => {
    write('worker: { health: { host: 0.0.0.0, open: true } }');
    expect(load().config.worker.health.host).toBe('0.0.0.0');
  });

  it('lets an address on the command line choose the store', () => {
    expect(load({ flags: { 'redis.url': 'redis://h' } }).config.store).toBe('redis');
  });

  it('names the variable when the environment is wrong', () => {
    expect(problemsOf({ env: { SALLYPORT_WORKER_LEASE_MS: '15s' } })).toContain(
      'SALLYPORT_WORKER_LEASE_MS: expected a whole number of milliseconds from 300 to 3600000',
    );
    expect(problemsOf({ env: { SALLYPORT_WORKER_LEASE_MS: '1' } })).toContain(
      'SALLYPORT_WORKER_LEASE_MS: worker.leaseMs',
    );
    expect(load({ env: { SALLYPORT_WORKER_LEASE_MS: '' } }).config.worker.leaseMs).toBe(15_000);
  });

  it('reports several problems at once', () => {
    write('stor: redis\nworker:\n  leaseMs: soon\n  poool: x\n');
    const told = problemsOf();
    expect(told).toContain('sallyport.yaml:1:1: unknown key "stor", did you mean "store"?');
    expect(told).toContain('sallyport.yaml:3:12: worker.leaseMs: expected a whole number');
    expect(told).toContain('sallyport.yaml:4:3: unknown key "poool" in worker, did you mean "pool"?');
  });

  it('tells a number that is far too large once', () => {
    write('worker: { leaseMs: 1e30 }');
    expect(problemsOf().match(/worker\.leaseMs/g)).toHaveLength(1);
  });

  it('refuses to choose between two files', () => {
    write('store: embedded');
    write('{"store":"embedded"}', 'sallyport.json');
    expect(problemsOf()).toContain('sallyport.yaml and sallyport.json are both there');
  });
});

describe('approvals.webhook', () => {
  const webhook = (members: string): string => write(`approvals:\n  webhook: { ${members} }\n`);

  it('takes an https address and the file of its secret', () => {
    webhook('url: https://example.com/hook, secretFile: ./secret');
    expect(load().config.approvals.webhook).toStrictEqual({
      url: 'https://example.com/hook',
      secretFile: join(cwd, 'secret'),
      timeoutMs: 5000,
    });
  });

  it('takes http of this machine, and a secret of the environment, which is never shown', () => {
    webhook('url: "http://[::1]:8080/", secret: "${HOOK_SECRET}"');
    const loaded = load({ env: { HOOK_SECRET: 'a-long-secret-4711' } });
    expect(loaded.config.approvals.webhook.secret).toBe('a-long-secret-4711');
    expect(JSON.stringify(showConfig(loaded))).not.toContain('4711');
  });

  it.each([
    ['url: http://example.com/hook, secretFile: s', 'approvals.webhook.url must be https://'],
    ['url: "https://a:b@example.com/", secretFile: s', 'approvals.webhook.url must not hold a user or a password'],
    ['url: https://example.com/', 'approvals.webhook.url needs approvals.webhook.secretFile, or secret'],
    ['secretFile: s', 'approvals.webhook.secretFile needs approvals.webhook.url'],
    ['url: https://example.com/, secret: in-clear-in-the-file', 'a secret may not stand in the file'],
    ['url: https://example.com/, secret: "${SHORT}"', 'expected a secret of 16 characters or more'],
    ['url: https://example.com/, secretFile: s, secret: "${LONG}"', 'exclude each other'],
  ])('refuses { %s }', (members, problem) => {
    webhook(members);
    expect(problemsOf({ env: { SHORT: 'short', LONG: 'long-enough-for-a-secret' } })).toContain(problem);
  });
});
