// `npm run test:load [-- --times 10] [filter …]` runs every test file that has a deadline in it, again and again, while busy processes
// occupy all cores. `npm run test:load -- --whole` runs one whole `npm test` during that load; `-- --list` only lists the files. The
// last line is `N passed, N failed`.
import { fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { deadlineFiles } from './deadline-files.mjs';
import { runChild } from './run-child.mjs';
import { ensureBuild, ensureNodeModules, reportFailure } from './setup.mjs';
import { testEnvironment } from './test-environment.mjs';
import { TOP } from './top.mjs';

const BUSY = join(TOP, 'scripts', 'busy-process.mjs');
const VITEST = join(TOP, 'node_modules/vitest/vitest.mjs');

const { values, positionals: filters } = readOptions();
const times = Number(values.times);

function readOptions() {
  try {
    const options = { times: { type: 'string', default: '10' }, whole: { type: 'boolean' }, list: { type: 'boolean' } };
    const read = parseArgs({ options, allowPositionals: true });
    if (/^[1-9]\d{0,2}$/.test(read.values.times)) return read;
  } catch (error) {
    console.error(error.message);
  }
  console.error('npm run test:load [-- --times 10 (1 to 999)] [--list | --whole] [filter …]');
  process.exit(2);
}

/** Starts one busy process per core. Each ends by itself when this process ends, however it ends. */
function startBusyProcesses() {
  return Array.from({ length: availableParallelism() }, () => fork(BUSY, { stdio: 'inherit' }));
}

/** Runs all files once. Returns for each whether it passed; a file that vitest did not report has failed. */
async function runOnce(files, env) {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-load-'));
  const report = join(folder, 'report.json');
  try {
    const args = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...files];
    const code = await runChild(process.execPath, [VITEST, ...args], { cwd: TOP, env });
    if (code >= 128) process.exit(code);
    const suites = new Map();
    for (const { name, status } of JSON.parse(readFileSync(report, 'utf8')).testResults)
      suites.set(relative(TOP, name), status === 'passed');
    const passes = files.map((file) => suites.get(file) === true);
    // An error outside every test belongs to no file. Then no file has certainly passed, so all count as failed.
    return code !== 0 && passes.every(Boolean) ? files.map(() => false) : passes;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const isWanted = (file) => filters.length === 0 || filters.some((each) => file.includes(each));

async function runDeadlineFiles(env) {
  const files = deadlineFiles().filter(isWanted);
  const passed = new Map(files.map((file) => [file, 0]));
  for (let round = 1; round <= times; round += 1) {
    console.log(`\n== round ${round} of ${times}, ${files.length} files`);
    const passes = await runOnce(files, env);
    for (const [index, file] of files.entries()) if (passes[index]) passed.set(file, passed.get(file) + 1);
  }
  console.log();
  let total = 0;
  for (const [file, count] of passed) {
    total += count;
    console.log(`${count === times ? 'ok    ' : 'FAILED'} ${count} of ${times}  ${file}`);
  }
  const failed = files.length * times - total;
  console.log(`\n${total} passed, ${failed} failed`);
  return failed === 0 && total > 0 ? 0 : 1;
}

async function main() {
  if (values.list) {
    console.log(deadlineFiles().filter(isWanted).join('\n'));
    return 0;
  }
  try {
    await ensureNodeModules();
    const env = await testEnvironment();
    await ensureBuild();
    const busy = startBusyProcesses();
    try {
      if (!values.whole) return await runDeadlineFiles(env);
      return await runChild(process.execPath, [join(TOP, 'scripts', 'test.mjs'), ...filters], { cwd: TOP, env });
    } finally {
      for (const each of busy) each.kill();
    }
  } catch (error) {
    return reportFailure(error);
  }
}

process.exitCode = await main();
