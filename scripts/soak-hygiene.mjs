// `npm run soak:hygiene [-- --minutes 30] [--store redis|embedded|both] [--seed 1] [--json]`: a plane does the work of a day
// in half an hour; see docs/hygiene.md. Runs test/plane/hygiene-soak.test.ts at its full size, one process per store, in parallel.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuild, ensureNodeModules, ensureRedisServer, reportFailure } from './setup.mjs';
import { TOP } from './top.mjs';

const STORES = { redis: ['redis'], embedded: ['embedded'], both: ['redis', 'embedded'] };
const PLANTS = ['timer', 'fd', 'heap', 'process', 'folder', 'key', 'consumer', 'client', 'all'];
const USAGE = `npm run soak:hygiene [-- --minutes 30] [--store ${Object.keys(STORES).join('|')}] [--seed 1] [--json] [--plant ${PLANTS.join('|')}]`;

function readWish() {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '30' },
      store: { type: 'string', default: 'both' },
      seed: { type: 'string', default: '1' },
      plant: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const minutes = Number(values.minutes);
  const isFine =
    minutes > 0 &&
    minutes <= 24 * 60 &&
    values.store in STORES &&
    /^\d{1,9}$/.test(values.seed) &&
    (values.plant === undefined || PLANTS.includes(values.plant));
  return isFine ? { ...values, minutes, seed: Number(values.seed), stores: STORES[values.store] } : undefined;
}

/** Runs the soak on one store. With `json` its output goes to standard error, so that standard output holds only the report. */
function soak(store, { minutes, seed, plant, json }, { env, folder }) {
  const file = join(folder, `${store}.json`);
  const args = ['run', '--project', 'integration', 'test/plane/hygiene-soak.test.ts', '--disable-console-intercept'];
  const asked = JSON.stringify({ minutes, seed, file, ...(plant === undefined ? {} : { plant }) });
  const child = spawn(
    process.execPath,
    [join(TOP, 'node_modules/vitest/vitest.mjs'), ...args, '--testNamePattern', `on ${store},`],
    { cwd: TOP, env: { ...env, SALLYPORT_HYGIENE: asked }, stdio: ['ignore', json ? 2 : 'inherit', 'inherit'] },
  );
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => {
    child.once('error', () => resolve({ store, passed: false }));
    child.once('exit', (code) => resolve({ store, passed: code === 0, ...readReport(file) }));
  });
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return {};
  }
}

async function main() {
  let wish;
  try {
    wish = readWish();
  } catch (error) {
    console.error(error.message);
  }
  if (wish === undefined) {
    console.error(USAGE);
    return 2;
  }
  // With --json, standard output holds only the report.
  if (wish.json) console.log = console.error;
  await ensureNodeModules();
  await ensureBuild();
  const redisServer = await ensureRedisServer();
  const path = [process.env.PATH, dirname(redisServer)].filter(Boolean).join(delimiter);
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-soak-'));
  try {
    const env = { ...process.env, SALLYPORT_REDIS_SERVER: redisServer, PATH: path };
    const reports = await Promise.all(wish.stores.map((store) => soak(store, wish, { env, folder })));
    if (wish.json) process.stdout.write(`${JSON.stringify(reports, undefined, 2)}\n`);
    return reports.every(({ passed }) => passed) ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  process.exitCode = reportFailure(error);
}
