// Runs examples/agent-loop, as the package has it, on both SDKs; offline only on the first.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TOP } from '../top.mjs';
import { copyPackage } from './install.mjs';

const SDKS = { 'ai-sdk': 'ai', 'openai-agents': '@openai/agents-core' };
const LAST_LINE = /^agent +Order A-1 for 267 is placed\./;

/** @returns {string[]} the SDKs on which the agent ended as it should */
export function runAgents(place, { offline }) {
  const { node, project, env } = place;
  const packed = join(project, 'node_modules/sallyport/examples/agent-loop');
  const example = join(project, 'agent-loop');
  cpSync(existsSync(packed) ? packed : join(TOP, 'examples/agent-loop'), example, { recursive: true });
  const sdks = Object.keys(SDKS).slice(0, offline ? 1 : undefined);
  if (offline) for (const folder of closureOf(sdks.map((sdk) => SDKS[sdk]))) copyPackage(project, folder);
  else installSdks(place);
  return sdks.map((sdk) => {
    const args = [join(example, 'run.mjs'), sdk];
    const lines = execFileSync(node, args, { cwd: project, env, encoding: 'utf8' }).trimEnd().split('\n');
    if (!LAST_LINE.test(lines.at(-1))) throw new Error(`The agent on ${sdk} ended with: ${lines.at(-1)}`);
    return sdk;
  });
}

function installSdks({ project, env }) {
  const { devDependencies } = JSON.parse(readFileSync(join(TOP, 'package.json'), 'utf8'));
  const wanted = Object.values(SDKS).map((name) => `${name}@${devDependencies[name]}`);
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--engine-strict=false', ...wanted], {
    cwd: project,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/** The folders of these packages and of all their dependencies, according to the lock file. */
function closureOf(names) {
  const { packages } = JSON.parse(readFileSync(join(TOP, 'package-lock.json'), 'utf8'));
  const reached = new Set();
  const waiting = names.map((name) => `node_modules/${name}`);
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    if (reached.has(folder) || packages[folder] === undefined) continue;
    reached.add(folder);
    const { dependencies = {}, peerDependencies = {} } = packages[folder];
    waiting.push(...Object.keys({ ...dependencies, ...peerDependencies }).map((name) => `node_modules/${name}`));
  }
  return [...reached];
}
