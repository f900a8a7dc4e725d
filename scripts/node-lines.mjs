// The lines of Node.js that the tests run on. They are installed on demand from npm into tools/nodes, pinned by lock file and integrity.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ensurePackages, reportFailure, SetupFailure } from './setup.mjs';
import { isStarted, TOP } from './top.mjs';

/** Each line is an alias in tools/nodes/package.json. */
export const LINES = ['22', '24', '26'];

const FOLDER = join(TOP, 'tools', 'nodes');

/** Installs the lines; returns the path of each program by line, e.g. `{ 22: '…/bin/node' }`. */
export async function ensureNodeLines() {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new SetupFailure(
      `The tests on several lines of Node.js take their programs from npm, which has them for Linux on x64 only. This is ` +
        `${process.platform} on ${process.arch}: run \`npm test\` with each Node.js instead.`,
    );
  await ensurePackages({ folder: FOLDER, lock: 'nodes', what: `Node ${LINES.join(', ')}` });
  const programs = Object.fromEntries(
    LINES.map((line) => [line, join(FOLDER, 'node_modules', `node${line}`, 'bin', 'node')]),
  );
  for (const [line, program] of Object.entries(programs))
    if (!existsSync(program)) throw new SetupFailure(`Node ${line} was installed, but ${program} is missing.`);
  return programs;
}

if (isStarted(import.meta.url)) {
  try {
    // This must be the last line: the test that started this script reads it.
    console.log(JSON.stringify(await ensureNodeLines()));
  } catch (error) {
    process.exitCode = reportFailure(error);
  }
}
