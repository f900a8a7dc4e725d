// `npm run test:nodes`: runs all tests on each line of Node.js, one line after the other. `-- --line 22` selects one; other arguments
// are filters as for `npm test`. The static checks run only on the first line of Node.js. The last line that is printed is
// `N passed, N failed`, the sum over all lines of Node.js.
import { spawn } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { ensureNodeLines, LINES } from './node-lines.mjs';
import { reportFailure } from './setup.mjs';
import { TOP } from './top.mjs';

const RESULT = /^(\d+) passed, (\d+) failed$/gm;
const EXIT_USAGE = 2;

/** @returns {{ lines: string[], filters: string[] } | undefined} undefined when a line is not known */
function readArguments(args) {
  const lines = [];
  const filters = [];
  for (let at = 0; at < args.length; at += 1) {
    if (args[at] !== '--line') filters.push(args[at]);
    else {
      at += 1;
      if (!LINES.includes(args[at])) return undefined;
      lines.push(args[at]);
    }
  }
  return { lines: lines.length === 0 ? LINES : lines, filters };
}

let running;

/** Prints the output of the tests as it arrives, and reads their closing line. */
function testOn(node, args) {
  return new Promise((resolve) => {
    // Programs that the tests start as `node` must run on this Node.js too.
    const env = { ...process.env, PATH: [dirname(node), process.env.PATH].filter(Boolean).join(delimiter) };
    const child = spawn(node, [join(TOP, 'scripts', 'test.mjs'), ...args], {
      cwd: TOP,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    running = child;
    let tail = '';
    child.stdout.on('data', (chunk) => {
      process.stdout.write(chunk);
      tail = `${tail}${chunk}`.slice(-2000);
    });
    child.once('error', (error) => {
      console.error(error.message);
      resolve({ passed: 0, failed: 1 });
    });
    child.once('close', (code) => {
      const [, passed = 0, failed = 0] = [...tail.matchAll(RESULT)].at(-1) ?? [];
      // A run without its closing line, or with a closing line without failures and an exit code other than 0, counts as one failure.
      const counted = { passed: Number(passed), failed: Number(failed) };
      resolve(code === 0 || counted.failed > 0 ? counted : { ...counted, failed: 1 });
    });
  });
}

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
])
  process.once(signal, () => {
    running?.kill(signal);
    process.exit(code);
  });

async function main() {
  const asked = readArguments(process.argv.slice(2));
  if (asked === undefined) {
    console.error(`--line is one of ${LINES.join(', ')}.`);
    return EXIT_USAGE;
  }
  const total = { passed: 0, failed: 0 };
  const endings = [];
  try {
    const programs = await ensureNodeLines();
    for (const [index, line] of asked.lines.entries()) {
      console.log(`\n=== Node ${line} (${index + 1} of ${asked.lines.length})`);
      const startedMs = Date.now();
      const { passed, failed } = await testOn(
        programs[line],
        index === 0 ? asked.filters : ['--tests-only', ...asked.filters],
      );
      total.passed += passed;
      total.failed += failed;
      endings.push(
        `Node ${line}: ${passed} passed, ${failed} failed in ${Math.round((Date.now() - startedMs) / 1000)} s`,
      );
    }
  } catch (error) {
    total.failed += 1;
    reportFailure(error);
  }
  console.log(`\n${endings.join('\n')}`);
  console.log(`\n${total.passed} passed, ${total.failed} failed`);
  return total.failed === 0 ? 0 : 1;
}

process.exitCode = await main();
