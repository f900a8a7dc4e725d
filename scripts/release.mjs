// `npm run release -- --version 1.2.0 [--dry-run]`: makes a release, and publishes nothing. It prepares everything in a copy of the
// committed tree, so that a failure or a dry run leaves the clone unchanged. Then it commits version and changelog, tags, and keeps
// the files in release/.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { nextChangelog, nextVersion, ReleaseRefusal } from './release-text.mjs';
import { packRelease } from './release-files.mjs';
import { TOP } from './top.mjs';

const USAGE = `Usage: npm run release -- --version X.Y.Z [--dry-run]

  --version X.Y.Z  the version of the release, higher than the last one
  --dry-run        makes the release in a temporary copy and shows it; changes nothing`;
const CHANGED = ['package.json', 'package-lock.json', 'CHANGELOG.md'];
const EXIT_REFUSED = 1;
const EXIT_USAGE = 2;

const say = (line) => console.log(`release: ${line}`);
const git = (...args) => execFileSync('git', args, { cwd: TOP, encoding: 'utf8' }).trimEnd();

function readFlags() {
  try {
    const { values } = parseArgs({
      options: {
        version: { type: 'string' },
        'dry-run': { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (values.help) {
      console.log(USAGE);
      process.exit(0);
    }
    if (values.version === undefined) throw new Error('--version is missing.');
    return { version: values.version, isDryRun: values['dry-run'] };
  } catch (error) {
    console.error(`release: ${error.message}\n\n${USAGE}`);
    process.exit(EXIT_USAGE);
  }
}

function checkClone(tag, output) {
  const changed = git('status', '--porcelain');
  if (changed !== '') {
    const files = changed.split('\n');
    const more = files.length > 5 ? `\n  and ${files.length - 5} more` : '';
    throw new ReleaseRefusal(
      `The tree has changes that are not committed. Commit or remove them:\n${files.slice(0, 5).join('\n')}${more}`,
    );
  }
  if (git('tag', '--list', tag) !== '') throw new ReleaseRefusal(`The tag ${tag} exists.`);
  if (existsSync(output)) throw new ReleaseRefusal(`${output} exists. Remove it, or choose another version.`);
}

function run(what, args, cwd) {
  say(`${what} …`);
  const startedMs = Date.now();
  try {
    execFileSync(process.execPath, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    throw new ReleaseRefusal(`${`${error.stdout}${error.stderr}`.trim()}\n\n${what} failed.`);
  }
  say(`${what}: done in ${((Date.now() - startedMs) / 1000).toFixed(1)} s`);
}

/** Copies the committed files, with the packages and the build of this clone: only what the new version changes is built again. */
function copyTree(copy) {
  const archive = join(copy, 'tree.tar');
  git('archive', '--format=tar', `--output=${archive}`, 'HEAD');
  execFileSync('tar', ['-xf', archive, '-C', copy]);
  rmSync(archive);
  symlinkSync(join(TOP, 'node_modules'), join(copy, 'node_modules'));
  if (existsSync(join(TOP, 'dist')))
    cpSync(join(TOP, 'dist'), join(copy, 'dist'), { recursive: true, dereference: true });
}

/** Sets the version and changes nothing else, not even the order of the members. */
function writeVersion(copy, version) {
  for (const file of ['package.json', 'package-lock.json']) {
    const path = join(copy, file);
    const content = JSON.parse(readFileSync(path, 'utf8'));
    content.version = version;
    if (content.packages !== undefined) content.packages[''].version = version;
    writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`);
  }
}

/** Changes the clone: either everything, or nothing. */
function finish({ copy, files, version, tag, output }) {
  const before = git('rev-parse', 'HEAD');
  try {
    mkdirSync(output, { recursive: true });
    for (const { name, path } of files) cpSync(path, join(output, name));
    for (const file of CHANGED) cpSync(join(copy, file), join(TOP, file));
    git('add', ...CHANGED);
    git('commit', '--quiet', '-m', `release: ${version}`, '-m', `What changed is in CHANGELOG.md under ${version}.`);
    git('tag', '--annotate', tag, '-m', `Sallyport ${version}`);
  } catch (error) {
    // The tree was clean, so only the changes of this script are lost.
    git('reset', '--quiet', '--hard', before);
    rmSync(output, { recursive: true, force: true });
    throw new ReleaseRefusal(`git refused: ${error.message}. The tree is as it was.`);
  }
  say(`committed, and tagged ${tag}; the files are in ${output}`);
  say('nothing is published yet. To do it:');
  console.log(`\n  git push --follow-tags\n  npm publish ${join(output, files[0].name)}\n`);
}

async function release({ version, isDryRun }) {
  const tag = `v${version}`;
  const output = join(TOP, 'release', version);
  const today = new Date().toISOString().slice(0, 10);
  const changelog = readFileSync(join(TOP, 'CHANGELOG.md'), 'utf8');
  const { version: current } = JSON.parse(readFileSync(join(TOP, 'package.json'), 'utf8'));
  nextVersion(version, { current, changelog });
  const released = nextChangelog(changelog, version, today);
  checkClone(tag, output);
  say(`${current} -> ${version}${isDryRun ? ', dry run' : ''}`);
  run('lint', ['node_modules/oxlint/bin/oxlint', '--type-aware', '--deny-warnings'], TOP);

  const copy = mkdtempSync(join(tmpdir(), 'sallyport-release-'));
  const removeCopy = () => rmSync(copy, { recursive: true, force: true });
  process.once('exit', removeCopy);
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(EXIT_REFUSED));
  copyTree(copy);
  writeVersion(copy, version);
  writeFileSync(join(copy, 'CHANGELOG.md'), released);
  say(`CHANGELOG.md: Unreleased is now ${version} of ${today}`);
  const build = "const { ensureBuild } = await import('./scripts/setup.mjs'); await ensureBuild();";
  run('build', ['--input-type=module', '-e', build], copy);
  const files = packRelease(copy, say);
  if (isDryRun) say(`dry run: the commit, the tag ${tag} and ${output} were left out; nothing was changed`);
  else finish({ copy, files, version, tag, output });
}

const flags = readFlags();
try {
  await release(flags);
} catch (error) {
  if (!(error instanceof ReleaseRefusal)) throw error;
  console.error(`release: ${error.message}`);
  process.exitCode = EXIT_REFUSED;
}
