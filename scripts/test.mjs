// `npm test`: sets up, builds, and runs every check. `npm test -- <filter>` runs only the tests whose files match.
// The last line is always `N passed, N failed`; a static check counts as one.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuild, ensureNodeModules, reportFailure } from './setup.mjs';
import { testEnvironment } from './test-environment.mjs';
import { TOP } from './top.mjs';

const TESTS_ONLY = '--tests-only';
const filters = process.argv.slice(2).filter((argument) => argument !== TESTS_ONLY);
/** `--tests-only`: test-nodes.mjs runs the tests on several lines of Node.js, and the static checks give the same result on each. */
const withChecks = filters.length === 0 && !process.argv.includes(TESTS_ONLY);
const counts = { passed: 0, failed: 0 };
let env;
let child;

/** Runs a program of node_modules and shows its output; resolves with its exit code. */
function show(program, args) {
  return new Promise((resolve) => {
    child = spawn(process.execPath, [join(TOP, program), ...args], { cwd: TOP, env, stdio: 'inherit' });
    child.once('error', (error) => {
      console.error(error.message);
      resolve(1);
    });
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

async function step(name, run) {
  console.log(`\n== ${name}`);
  const startedMs = Date.now();
  const result = await run();
  counts.passed += result.passed;
  counts.failed += result.failed;
  const seconds = ((Date.now() - startedMs) / 1000).toFixed(1);
  console.log(`== ${name}: ${result.failed === 0 ? 'ok' : 'FAILED'} in ${seconds} s`);
}

const single = (code) => (code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 });

const check = (name, program, args = []) => step(name, async () => single(await show(program, args)));

async function build() {
  try {
    await ensureBuild();
    return single(0);
  } catch (error) {
    reportFailure(error);
    return single(1);
  }
}

async function tests() {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-test-'));
  const file = join(folder, 'report.json');
  try {
    const args = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${file}`, ...filters];
    const code = await show('node_modules/vitest/vitest.mjs', args);
    return countTests(file, code);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A file that cannot be loaded reports no tests, and an error outside every test belongs to none. Both still count as failed. */
function countTests(file, code) {
  let report;
  try {
    report = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return single(1);
  }
  const broken = report.testResults.filter(
    (suite) => suite.status === 'failed' && suite.assertionResults.every((test) => test.status !== 'failed'),
  );
  const failed = report.numFailedTests + broken.length;
  const skipped = report.numPendingTests + report.numTodoTests;
  if (skipped > 0) console.log(`${skipped} tests were skipped.`);
  return { passed: report.numPassedTests, failed: failed === 0 && code !== 0 ? 1 : failed };
}

/** A signal ends the running step and this process. Without this, the step would go on alone. */
function stopWithChild() {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ]) {
    process.once(signal, () => {
      child?.kill(signal);
      process.exit(code);
    });
  }
}

async function main() {
  try {
    await ensureNodeModules();
    env = await testEnvironment();
  } catch (error) {
    counts.failed += 1;
    return reportFailure(error);
  }
  stopWithChild();
  await step('build', build);
  if (withChecks) {
    await check('format', 'node_modules/oxfmt/bin/oxfmt', ['--check']);
    await check('lint', 'node_modules/oxlint/bin/oxlint', ['--type-aware', '--deny-warnings']);
    await check('words', 'scripts/check-words.mjs');
    await check('imports', 'scripts/check-imports.mjs');
    await check('unused', 'scripts/check-unused.mjs');
    await check('types', 'node_modules/@typescript/native/bin/tsc', ['-p', 'tsconfig.json']);
    await check('types of the console', 'node_modules/@typescript/native/bin/tsc', ['-p', 'console/tsconfig.json']);
  }
  await step('tests', tests);
  return counts.failed === 0 ? 0 : 1;
}

process.exitCode = await main();
console.log(`\n${counts.passed} passed, ${counts.failed} failed`);
