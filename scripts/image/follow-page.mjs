// The second half of journey-image.mjs, run in separate namespaces: loads the image into an engine and follows docs/deploy.md.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TOP } from '../top.mjs';
import { REDIS_IMAGE } from './base-images.mjs';
import { prepareNamespaces, startEngine } from './engine.mjs';
import { shellBlocks } from './page-blocks.mjs';

const { folder, compose, redis, image } = JSON.parse(process.argv[2]);
const PAGE = readFileSync(join(TOP, 'docs/deploy.md'), 'utf8');
const PLACE = join(folder, 'srv/sallyport');
const WAIT_MS = 180_000;

/** The slow tool writes this file in its container when it begins. */
const BEGUN = '/tmp/begun';
const SLOW_MODULE = `import { writeFileSync } from 'node:fs';
import { defineModule, jsonSchema, tool } from 'sallyport/tool';
const run = async () => {
  writeFileSync('${BEGUN}', '');
  await new Promise((resolve) => setTimeout(resolve, 8000));
  return { text: 'waited' };
};
const wait = tool({ description: 'Waits for eight seconds.', effect: 'read', input: jsonSchema({ type: 'object' }), run });
export default defineModule({ id: 'slow', version: '1.0.0', description: 'Takes its time.', tools: { wait } });
`;

const counts = { passed: 0, failed: 0 };
let env;

function run(command, args, { cwd = TOP } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => (stdout += chunk));
    child.stderr.setEncoding('utf8').on('data', (chunk) => (stderr += chunk));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}

async function mustRun(command, args, options) {
  const { code, stdout, stderr } = await run(command, args, options);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${stdout}${stderr}`);
  return stdout.trim();
}

const docker = (...args) => mustRun('docker', args);
const composeIn = (...args) => mustRun('docker', ['compose', ...args], { cwd: PLACE });

/** Runs a shell block of the page as it is written, with /srv/sallyport moved below the temporary folder. */
function follow(block, cwd) {
  const text = `set -eo pipefail\n${block.replaceAll('/srv/sallyport', PLACE)}`;
  return mustRun('bash', ['-c', text], { cwd });
}

async function check(title, test) {
  const startedMs = Date.now();
  try {
    await test();
    counts.passed += 1;
    console.log(`ok      ${title} (${((Date.now() - startedMs) / 1000).toFixed(1)} s)`);
    return true;
  } catch (error) {
    counts.failed += 1;
    console.log(`FAILED  ${title}\n${error.message}`);
    return false;
  }
}

function expect(isTrue, found) {
  if (!isTrue) throw new Error(`found: ${typeof found === 'string' ? found : JSON.stringify(found)}`);
}

const containers = async (service) => (await composeIn('ps', '--all', '--quiet', service)).split('\n').filter(Boolean);
const inspect = async (id) => JSON.parse(await docker('inspect', id))[0];

async function untilHealth(ids, wanted) {
  const giveUpAt = Date.now() + WAIT_MS;
  for (;;) {
    const states = await Promise.all(ids.map(async (id) => (await inspect(id)).State));
    if (states.every((state) => state.Health.Status === wanted)) return states;
    if (Date.now() > giveUpAt) throw new Error(`not ${wanted}: ${JSON.stringify(states.map((each) => each.Health))}`);
    await sleep(500);
  }
}

/** The output of the last health check. */
const lastWord = (state) => state.Health.Log.at(-1).Output;

/** Calls a tool over HTTP; resolves with the text of the response. */
async function callTool(tool, given) {
  const token = readFileSync(join(PLACE, 'secrets/ci.token'), 'utf8').trim();
  const answer = await fetch('http://127.0.0.1:7411/v1/calls', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ tool, arguments: given }),
  });
  return answer.text();
}

async function checkImage() {
  const { version } = JSON.parse(readFileSync(join(TOP, 'package.json'), 'utf8'));
  // `npm run image` is cut out of the block: journey-image.mjs has already built the image, with Buildah.
  const [block] = shellBlocks(PAGE, 'Container');
  await check('the image runs any command of the package', async () => {
    const printed = await follow(block.replace('npm run image\n', ''), TOP);
    expect(printed === version, printed);
  });
  await check('its user owns nothing of it, and can write to the state folder', async () => {
    const script =
      'id -u; touch /app/x /modules/x /etc/sallyport/x 2>/dev/null && echo open; touch /var/lib/sallyport/x /tmp/x && echo state';
    const printed = await docker('run', '--rm', '--entrypoint', 'sh', 'sallyport', '-c', script);
    expect(printed === '10001\nstate', printed);
  });
  await check('it has no development packages, sources or caches of npm', async () => {
    const script =
      'for f in /app/node_modules/vitest /app/src /app/test /app/*.tgz /package /root/.npm /tmp/*; do [ -e $f ] && echo $f; done; du -sm /app';
    const printed = await docker('run', '--rm', '--entrypoint', 'sh', 'sallyport', '-c', script);
    expect(/^\d+\t\/app$/.test(printed), printed);
    console.log(`        ${printed.split('\t')[0]} MB in /app`);
  });
  await check('a one-shot container is not called healthy', async () => {
    const args = ['run', '--rm', '--entrypoint', 'node', 'sallyport', '/app/check-health.mjs', 'ready'];
    const { code, stderr } = await run('docker', args);
    expect(code === 1 && stderr.includes('Process 1 is neither a worker nor a gateway.'), { code, stderr });
  });
}

async function checkCompose() {
  const [prepare, start, call] = shellBlocks(PAGE, 'Compose');
  const isUp = await check(
    'compose.yaml: the page leads to Redis, two workers and a gateway, all healthy',
    async () => {
      await follow(prepare, TOP);
      writeFileSync(join(PLACE, 'modules/slow.mjs'), SLOW_MODULE);
      await composeIn('config', '--quiet');
      await follow(start, PLACE);
    },
  );
  if (!isUp) return console.log((await run('docker', ['compose', 'logs', '--no-color'], { cwd: PLACE })).stdout);
  const workers = await containers('worker');
  const gateways = await containers('gateway');
  const all = [...workers, ...gateways, ...(await containers('redis'))];
  await check('all run as 10001 on a read-only root without capabilities', async () => {
    for (const id of all) {
      const { HostConfig, State } = await inspect(id);
      const status = readFileSync(`/proc/${State.Pid}/status`, 'utf8');
      const facts = ['Uid', 'CapEff', 'CapBnd', 'NoNewPrivs'].map(
        (name) => new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(status)[1],
      );
      const zero = '0'.repeat(16);
      expect(HostConfig.ReadonlyRootfs && facts.join() === ['10001', zero, zero, '1'].join(), facts);
    }
    expect(workers.length === 2 && gateways.length === 1, all);
  });
  await check('each health check names the role that it asked', async () => {
    for (const [role, ids] of Object.entries({ worker: workers, gateway: gateways }))
      for (const id of ids) {
        const said = lastWord((await inspect(id)).State);
        expect(said.startsWith(`${role}: {"status":"ready"`), said);
      }
  });
  await check('a call over HTTP runs a mounted module that imports the package', async () => {
    const printed = await follow(call, PLACE);
    expect(printed.includes('Hello, Ada!'), printed);
  });
  await check('a frozen worker becomes unhealthy alone, and healthy again', async () => {
    const { State } = await inspect(workers[0]);
    const pid = Number(readFileSync(`/proc/${State.Pid}/task/${State.Pid}/children`, 'utf8').trim());
    process.kill(pid, 'SIGSTOP');
    const [frozen] = await untilHealth([workers[0]], 'unhealthy');
    expect(/worker: no answer|timed? ?out|exceeded timeout/i.test(lastWord(frozen)), lastWord(frozen));
    await untilHealth([workers[1], ...gateways], 'healthy');
    process.kill(pid, 'SIGCONT');
    await untilHealth([workers[0]], 'healthy');
  });
  await check('without Redis workers and gateway are unhealthy but live, and healthy when it is back', async () => {
    await composeIn('stop', 'redis');
    const states = await untilHealth([...workers, ...gateways], 'unhealthy');
    for (const state of states) expect(lastWord(state).includes('not ready'), lastWord(state));
    for (const id of [...workers, ...gateways]) await docker('exec', id, 'node', '/app/check-health.mjs', 'live');
    await composeIn('start', 'redis');
    await untilHealth([...workers, ...gateways], 'healthy');
  });
  await check('calls run after that', async () => {
    const text = await callTool('greet.hello', { name: 'Eve' });
    expect(text.includes('Hello, Eve!'), text);
  });
  await check('SIGTERM drains: the call under way is answered, and all end with 0', async () => {
    const answer = callTool('slow.wait', {});
    await untilBegun(workers);
    await composeIn('stop', 'worker');
    const text = await answer;
    expect(text.includes('waited'), text);
    await composeIn('stop', 'gateway', 'redis');
    for (const id of all) {
      const { State } = await inspect(id);
      expect(State.ExitCode === 0 && !State.OOMKilled, State);
    }
  });
  await composeIn('down', '--volumes', '--remove-orphans');
}

/** Waits until one of the workers has begun the slow call. */
async function untilBegun(workers) {
  const giveUpAt = Date.now() + WAIT_MS;
  for (;;) {
    for (const id of workers) if ((await run('docker', ['exec', id, 'test', '-e', BEGUN])).code === 0) return;
    if (Date.now() > giveUpAt) throw new Error('no worker has begun the call');
  }
}

prepareNamespaces();
const home = join(folder, 'home');
mkdirSync(join(home, '.docker/cli-plugins'), { recursive: true });
symlinkSync(compose, join(home, '.docker/cli-plugins/docker-compose'));
const engine = await startEngine(folder);
try {
  env = { ...engine.env, HOME: home };
  console.log(
    `Docker ${await docker('version', '--format', '{{.Server.Version}}')}, ${await docker('compose', 'version')}`,
  );
  await docker('load', '--quiet', '--input', image);
  await docker('import', redis, REDIS_IMAGE);
  await checkImage();
  await checkCompose();
} catch (error) {
  counts.failed += 1;
  console.error(error);
} finally {
  await engine.stop();
}
process.exitCode = counts.failed === 0 ? 0 : 1;
console.log(`\n${counts.passed} passed, ${counts.failed} failed`);
