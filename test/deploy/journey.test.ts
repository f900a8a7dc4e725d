import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startRedis, type RedisServer } from '../support/redis-server.ts';
import { eventually, freePort, temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { startLoad, type Load } from './journey-load.ts';
import { createPageShell, shellBlocks, type PageShell } from './page-shell.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 });

/** How many calls are made around each restart. `npm run journey:deploy` asks for more. */
const LOAD_CALLS = Number(process.env['SALLYPORT_SOAK_CALLS'] ?? 150);

const DEPLOY = shellBlocks('docs/deploy.md');
const OPERATIONS = shellBlocks('docs/operations.md');
const UNITS = ['sallyport-gateway', 'sallyport-worker@default', 'sallyport-worker@second'];

/** The only blocks that are not run here, each with what runs it instead. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  Container: 'needs a container engine: npm run journey:image',
  Compose: 'needs a container engine: npm run journey:image',
  'Tools without a worker': 'withdraws modules of the examples: test/gateway/administration.test.ts',
};

/** A tool with an effect, and one that takes its time. */
const LEDGER = (file: string): string => `import { appendFileSync } from 'node:fs';
import { defineModule, jsonSchema, tool } from 'sallyport/tool';
const input = jsonSchema({ type: 'object', properties: { line: { type: 'string' } }, required: ['line'] });
const write = ({ line }) => { appendFileSync(${JSON.stringify(file)}, line + '\\n'); return { line }; };
export default defineModule({
  id: 'ledger', version: '1.0.0', description: 'Writes lines.',
  tools: {
    add: tool({ description: 'Writes a line.', effect: 'unsafe', input, run: write }),
    wait: tool({ description: 'Writes a line, and waits.', effect: 'unsafe', input, limits: { timeoutMs: 120_000 },
      run: async (args, { signal }) => { write(args); await new Promise((resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))); } }),
  },
});
`;

let folder: TemporaryFolder;
let shell: PageShell;
let gateway: string;
let restored: RedisServer | undefined;
beforeAll(async () => {
  folder = temporaryFolder('sallyport-journey');
  const names = ['6379', '6380', '8081', '8082', '7411'];
  const ports = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await freePort()] as const)));
  gateway = `http://127.0.0.1:${ports['7411']}`;
  shell = createPageShell(folder.path, ports);
  // With `everysec` a crash may lose the last second of writes, as the page says. A slow disk must not make this test lose calls.
  const conf = shell.place('work/deploy/redis/redis.conf');
  writeFileSync(conf, readFileSync(conf, 'utf8').replace('appendfsync everysec', 'appendfsync always'));
  // The call of a killed worker is recovered when its lease runs out. The default of 15 s would be most of this test's time.
  const worker = shell.place('work/deploy/worker.yaml');
  writeFileSync(worker, readFileSync(worker, 'utf8').replace('  graceMs:', '  leaseMs: 2000\n  graceMs:'));
});
afterAll(async () => {
  await shell.run(`systemctl stop ${UNITS.join(' ')}\nsystemctl stop redis-server`).catch(() => undefined);
  await restored?.stop();
  folder.remove();
  failOnLeaks();
});

const blocksOf = (page: typeof DEPLOY, heading: string): string[] =>
  page.filter((block) => block.heading === heading).map(({ text }) => text);
async function run(page: typeof DEPLOY, heading: string): Promise<string> {
  const printed: string[] = [];
  for (const block of blocksOf(page, heading)) printed.push(await shell.run(block));
  if (printed.length === 0) throw new Error(`The page has no commands under "${heading}".`);
  return printed.join('');
}
const as = (role: string): Promise<string> =>
  shell.run(`export SALLYPORT_REDIS_USERNAME=sallyport-${role}
export SALLYPORT_REDIS_PASSWORD_FILE=/etc/sallyport/secrets/${role}.password`);
const lines = (): string[] => readFileSync(shell.place('ledger.txt'), 'utf8').trimEnd().split('\n');

describe('an operator who follows docs/deploy.md and docs/operations.md', () => {
  it('has no block that is not run', () => {
    const here = readFileSync(new URL(import.meta.url), 'utf8');
    for (const { heading } of [...DEPLOY, ...OPERATIONS]) {
      const isRun = here.includes(`, '${heading}')`) || Object.hasOwn(ELSEWHERE, heading);
      expect([heading, isRun]).toStrictEqual([heading, true]);
    }
  });

  it('sets up Redis with its users, and the store', async () => {
    await run(DEPLOY, 'Redis and its users');
    const made = await run(DEPLOY, 'The store');
    expect(made).toContain('Loaded the functions sallyport_1.');
    expect(made).toContain('Loaded the functions sallyport_services_1.');
    expect(made).toMatch(/ok +anonymous +refused without a password/);
    expect(made).toMatch(/ok +default-user +as needed/);
    await expect(shell.run('redis-cli -e -p 6379 FLUSHALL')).rejects.toThrow('NOAUTH');
  });

  it('starts two workers and a gateway, makes a token, calls, and scrapes metrics', async () => {
    writeFileSync(shell.place('opt/sallyport/modules/ledger.mjs'), LEDGER(shell.place('ledger.txt')));
    expect(await run(DEPLOY, 'Workers')).toContain('"ready"');
    expect(await run(DEPLOY, 'Gateway')).toContain('"ready"');
    expect(await run(DEPLOY, 'A token and a call')).toContain('Hello, Ada!');
    const scraped = await run(DEPLOY, 'Metrics');
    expect(scraped).toContain('sallyport_calls_total');
    expect(scraped).toMatch(/ok +workers +2 alive in default/);
    expect(scraped).not.toContain('ghost');
  });

  let load: Load;
  it('replaces every process under load, and loses no call', async () => {
    load = startLoad(gateway, shell.place('etc/sallyport/secrets/ci.token'), LOAD_CALLS, 'roll');
    expect(await run(DEPLOY, 'A new release')).toContain('It is up to date.');
    await load.ended;
    expect(lines().toSorted()).toStrictEqual(load.sent.toSorted());
  });

  it('restarts Redis under load, and kills it, and loses no call', async () => {
    for (const how of ['restart', 'kill']) {
      load = startLoad(gateway, shell.place('etc/sallyport/secrets/ci.token'), LOAD_CALLS, how);
      await load.under;
      if (how === 'kill') process.kill(shell.pidOf('redis-server'), 'SIGKILL');
      expect(await run(OPERATIONS, 'Redis')).toBe('');
      await load.ended;
      expect(
        lines()
          .filter((line) => line.startsWith(how))
          .toSorted(),
      ).toStrictEqual(load.sent.toSorted());
    }
    for (const unit of UNITS) expect(shell.logOf(unit)).not.toContain('STORE_REPLACED');
  });

  it('looks at everything, changes the policy and pauses', async () => {
    await as('operator');
    expect(await run(OPERATIONS, 'Operations')).toMatch(/ok +workers +2 alive/);
    // The examples on the page expect policy version 3.
    await shell.run('sallyport policy set /etc/sallyport/policy.yaml\nsallyport policy set /etc/sallyport/policy.yaml');
    await run(OPERATIONS, 'Policy and pause');
  });

  it('changes the password of the workers under load, and loses no call', async () => {
    const password = shell.place('etc/sallyport/secrets/worker.password');
    const old = readFileSync(password, 'utf8').trim();
    load = startLoad(gateway, shell.place('etc/sallyport/secrets/ci.token'), LOAD_CALLS, 'password');
    await load.under;
    await run(OPERATIONS, 'Changing keys and passwords');
    await load.ended;
    expect(
      lines()
        .filter((line) => line.startsWith('password'))
        .toSorted(),
    ).toStrictEqual(load.sent.toSorted());
    const login = (secret: string): Promise<string> =>
      shell.run(`redis-cli -e -p 6379 AUTH sallyport-worker ${secret}`);
    await expect(login(old)).rejects.toThrow('WRONGPASS');
    expect(await login(readFileSync(password, 'utf8').trim())).toContain('OK');
    // Redis reads this file at its next start, so the old password must be gone from it too.
    expect(readFileSync(shell.place('etc/redis/sallyport-users.acl'), 'utf8')).not.toContain(
      createHash('sha256').update(old).digest('hex'),
    );
  });

  it('shows, cancels and resolves calls', async () => {
    const token = shell.place('etc/sallyport/secrets/ci.token');
    const begin = async (line: string): Promise<string> => {
      const body = JSON.stringify({ tool: 'ledger.wait', arguments: { line }, waitMs: 0, deadlineMs: 600_000 });
      const answer = await fetch(`${gateway}/v1/calls`, {
        method: 'POST',
        headers: { authorization: `Bearer ${readFileSync(token, 'utf8').trim()}`, 'content-type': 'application/json' },
        body,
      });
      await eventually(() => lines().includes(line), { what: 'the tool to run' });
      return ((await answer.json()) as { callId: string }).callId;
    };
    const lost = await begin('lost');
    // Both workers are killed, because the test does not know which one runs the call.
    for (const unit of UNITS.slice(1)) process.kill(shell.pidOf(unit), 'SIGKILL');
    await shell.run(`systemctl restart ${UNITS.slice(1).join(' ')}\n`);
    const live = await begin('live');
    await eventually(async () => (await shell.run(`sallyport calls show ${lost}`)).includes('indeterminate'), {
      everyMs: 500,
      what: 'the lost call to be ended',
    });
    const block = blocksOf(OPERATIONS, 'Calls').join('\n');
    const printed = await shell.run(
      block
        .replace('show CALL_ID', `show ${lost}`)
        .replace('cancel CALL_ID', `cancel ${live}`)
        .replace('resolve CALL_ID', `resolve ${lost}`),
    );
    expect(printed).toMatch(new RegExp(`call +${lost.replaceAll('.', String.raw`\.`)}`));
    expect(printed).toContain('The tool runs; it was told to stop.');
    expect(printed).toContain('Written down: not-ran.');
    expect(await shell.run(`sallyport calls show ${lost}`)).toMatch(/resolved +not-ran/);
    await eventually(async () => (await shell.run(`sallyport calls show ${live}`)).includes('cancelled'), {
      everyMs: 500,
      what: 'the cancelled call to end',
    });
  });

  it('makes a backup under load, and restores it on another server', async () => {
    await as('admin');
    restored = await startAt(
      Number((await shell.run('echo 6380')).trim()),
      shell.place('etc/redis/sallyport-users.acl'),
    );
    load = startLoad(gateway, shell.place('etc/sallyport/secrets/ci.token'), LOAD_CALLS, 'backup');
    await load.under;
    const printed = await run(OPERATIONS, 'Backup');
    await load.ended;
    expect(
      lines()
        .filter((line) => line.startsWith('backup'))
        .toSorted(),
    ).toStrictEqual(load.sent.toSorted());
    expect(printed).toContain('Copied and verified');
    expect(printed).toContain('Restored and verified');
    expect(printed).toContain('The store is now incarnation');
  });

  it('goes on after the data is gone', async () => {
    await shell.run('systemctl stop redis-server');
    rmSync(shell.place('var/lib/redis/appendonlydir'), { recursive: true });
    await shell.run('systemctl start redis-server');
    await run(OPERATIONS, 'When the data is gone');
    await as('monitor');
    const bothAlive = async () => /ok +workers +2 alive/.test(await shell.run('sallyport doctor'));
    const waiting = eventually(bothAlive, { everyMs: 500, what: 'two workers on the new store' });
    await expect(waiting).resolves.toBe(true);
  });

  it('stops everything in order', async () => {
    await shell.run(`systemctl stop ${UNITS.join(' ')}\nsystemctl stop redis-server`);
    for (const unit of UNITS) expect(shell.logOf(unit)).toContain('drained');
  });
});

async function startAt(port: number, users: string): Promise<RedisServer> {
  writeFileSync(`${users}.restored`, `${readFileSync(users, 'utf8')}user tester on >tester ~* &* +@all\n`);
  return startRedis({ port, username: 'tester', password: 'tester', extra: ['--aclfile', `${users}.restored`] });
}

describe('the commands for a fleet without users', () => {
  it('run workers and set a policy on a plain Redis', async () => {
    const redis = await startRedis();
    const plain = temporaryFolder('sallyport-plain');
    const health = await freePort();
    const own = createPageShell(plain.path, { 6379: redis.port, 8081: health });
    try {
      await own.run(`export SALLYPORT_STORE=redis SALLYPORT_REDIS_URL=redis://127.0.0.1:6379
mkdir -p modules game-modules
cp ${shell.place('opt/sallyport/modules/greet.mjs')} modules/
cp ${shell.place('opt/sallyport/modules/greet.mjs')} game-modules/
cp ${shell.place('etc/sallyport/policy.yaml')} policy.yaml`);
      const runHere = async (page: typeof DEPLOY, heading: string): Promise<void> => {
        for (const block of blocksOf(page, heading)) await own.run(block);
      };
      await runHere(OPERATIONS, 'A fleet');
      await runHere(OPERATIONS, 'Memory for young objects');
      await runHere(OPERATIONS, 'Pools');
      expect(await own.run('sallyport policy show')).toContain('permissions');
    } finally {
      await redis.stop();
      plain.remove();
    }
  });
});
