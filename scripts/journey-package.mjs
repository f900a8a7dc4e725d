// `npm run journey:package`: installs the packed package in an empty project, once for each line of Node.js, and uses it as README and the
// agent-loop example do: a call, types, console, two agents. Prints a table of sizes and times. Needs a build, and packages from the npm registry.
//   --nodes 24.21.0,26.10.0   these lines only
//   --tarball FILE            a package that was packed before, instead of this build
//   --offline                 with this Node.js and the packages of this clone instead of the registry's; measures no times
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { installOffline, installWithNpm } from './package-journey/install.mjs';
import { measureStarts } from './package-journey/measure-starts.mjs';
import { checkTypes } from './package-journey/check-types.mjs';
import { useCommand } from './package-journey/use-command.mjs';
import { runAgents } from './package-journey/run-agents.mjs';
import { TOP } from './top.mjs';

const LINES = ['22.23.3', '24.21.0', '26.10.0'];
const ATTW = '0.18.5';
/** The package that contains the Node.js binary of a line; it needs no install script. */
const BINARY = `node-${process.platform}-${process.arch}`;

const FAILED = 'failed';
/** What is tried with the installed package. Each returns a line that describes what it saw, or throws. */
const USES = {
  'call and console': async (place) => {
    const { rolled, consoleFiles } = await useCommand(place);
    return `dice.roll gave ${rolled}; the console served ${consoleFiles} files`;
  },
  'strict types': (place) => `strict types hold with moduleResolution ${checkTypes(place).join(' and ')}`,
  agents: (place) => `the agents ended as they should: ${runAgents(place, { offline: flags.offline }).join(', ')}`,
};

const say = (line) => console.log(`journey:package: ${line}`);
const { values: flags } = parseArgs({
  options: { nodes: { type: 'string' }, tarball: { type: 'string' }, offline: { type: 'boolean', default: false } },
});

if (flags.tarball === undefined && !existsSync(join(TOP, 'dist/cli/main.js'))) {
  console.error('journey:package: run `npm run build` first.');
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'sallyport-package-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

function pack() {
  if (flags.tarball !== undefined) return resolve(flags.tarball);
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const [{ filename }] = JSON.parse(
    execFileSync('npm', args, { cwd: TOP, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
  );
  return join(folder, filename);
}

/** Installs a package from the registry in a separate folder; returns its node_modules. */
function fetchPackage(name, version) {
  const home = join(folder, `${basename(name)}-${version}`);
  mkdirSync(home);
  writeFileSync(join(home, 'package.json'), JSON.stringify({ private: true }));
  const args = ['install', '--no-audit', '--no-fund', '--engine-strict=false', `${name}@${version}`];
  execFileSync('npm', args, { cwd: home, stdio: ['ignore', 'ignore', 'inherit'] });
  return join(home, 'node_modules');
}

/** Checks with arethetypeswrong that every export leads to its types in every way that ES modules are resolved. Throws if not. */
function checkExports(tarball) {
  const attw = join(fetchPackage('@arethetypeswrong/cli', ATTW), '.bin/attw');
  execFileSync(attw, [tarball, '--profile', 'esm-only', '--no-color'], { stdio: ['ignore', 'pipe', 'inherit'] });
  say('arethetypeswrong finds no fault with the exports');
}

/** Uses the package in one project on one Node.js; returns a row of the table. */
async function travel(node, version, tarball) {
  const project = join(folder, `project-${version}`);
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const env = { ...process.env, PATH: `${dirname(node)}:${process.env.PATH}`, XDG_CACHE_HOME: join(project, '.cache') };
  delete env.NODE_COMPILE_CACHE;
  const place = { node, project, env, tarball };

  const installed = flags.offline ? installOffline(place) : installWithNpm(place);
  say(`${version}: installed ${installed.packages} packages in ${installed.seconds.toFixed(1)} s`);
  const starts = flags.offline ? {} : measureStarts(place);
  const uses = {};
  for (const [name, use] of Object.entries(USES)) {
    try {
      say(`${version}: ${await use(place)}`);
      uses[name] = 'ok';
    } catch (error) {
      console.error(`journey:package: ${version}: ${name} failed: ${error.message}`);
      uses[name] = FAILED;
    }
  }
  return { node: version, ...installed, ...starts, ...uses };
}

const tarball = pack();
say(`${basename(tarball)}: ${Math.round(statSync(tarball).size / 1000)} kB packed`);
if (!flags.offline) checkExports(tarball);
const rows = [];
if (flags.offline) rows.push(await travel(process.execPath, process.versions.node, tarball));
else
  for (const version of flags.nodes?.split(',') ?? LINES)
    rows.push(await travel(join(fetchPackage(BINARY, version), BINARY, 'bin/node'), version, tarball));

const columns = Object.keys(rows[0]);
const shown = rows.map((row) => columns.map((name) => (name === 'seconds' ? row[name].toFixed(1) : String(row[name]))));
const heads = columns.map((name) => (name === 'seconds' ? 'install s' : name));
console.log(`\n| ${heads.join(' | ')} |\n|${heads.map(() => '---').join('|')}|`);
for (const cells of shown) console.log(`| ${cells.join(' | ')} |`);
const failed = shown.flat().filter((cell) => cell === FAILED).length;
console.log(`\n${shown.flat().filter((cell) => cell === 'ok').length} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
