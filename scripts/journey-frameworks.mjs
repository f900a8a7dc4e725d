// `npm run journey:frameworks`: packs this package, installs it in a temporary folder together with AI SDK 6, the newest OpenAI Agents
// SDK, LangChain core and Node 24, and runs the agents of test/gate/frameworks there. Needs a build, and packages from the npm
// registry.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TOP } from './top.mjs';

/** The package that contains the Node.js binary. The package `node` would fetch it with an install script, and install scripts are often disabled. */
const NODE = `node-${process.platform}-${process.arch}`;
const PACKAGES = ['ai@6', '@openai/agents-core@latest', '@langchain/core@latest', 'zod@4', `${NODE}@24`];

if (!existsSync(join(TOP, 'dist/exports/gate.js'))) {
  console.error('journey:frameworks: run `npm run build` first.');
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'sallyport-frameworks-'));
const npm = (cwd, ...args) =>
  execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

try {
  const [packed] = JSON.parse(npm(TOP, 'pack', '--json', '--ignore-scripts', '--pack-destination', folder));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  // `--engine-strict=false`: the packages run on the Node that is installed among them, not on the Node that installs them.
  const options = ['--no-audit', '--no-fund', '--engine-strict=false'];
  npm(folder, 'install', ...options, join(folder, packed.filename), ...PACKAGES);
  cpSync(join(TOP, 'test/gate/frameworks'), folder, { recursive: true });
  for (const name of ['ai', '@openai/agents-core', '@langchain/core', 'zod', NODE]) {
    const { version } = JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8'));
    console.log(`${name} ${version}`);
  }
  const node = join(folder, 'node_modules', NODE, 'bin/node');
  const { status, error } = spawnSync(node, ['main.ts'], { cwd: folder, stdio: 'inherit' });
  if (error !== undefined) console.error(`journey:frameworks: ${error.message}`);
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
