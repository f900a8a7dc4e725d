import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { spawnNode, temporaryFolder } from '../support/process.ts';

const TOP = fileURLToPath(new URL('../../', import.meta.url));
const IDENTITY = { name: 'A Releaser', email: 'releaser@example.com' };

/** Runs in a new Git repository with the files of this tree. The packages and the build are linked from here. */
describe('npm run release', () => {
  const clone = temporaryFolder('sallyport-release-test');
  const here = (path: string): string => join(clone.path, path);
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: clone.path, encoding: 'utf8' }).trimEnd();
  const release = async (...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> => {
    const child = await spawnNode(here('scripts/release.mjs'), args, { cwd: clone.path });
    const { code } = await child.exited;
    return { code, stdout: child.stdout, stderr: child.stderr };
  };
  /** Everything that a release could leave behind. */
  const state = (): unknown => ({
    head: git('rev-parse', 'HEAD'),
    changed: git('status', '--porcelain'),
    tags: git('tag'),
    top: readdirSync(clone.path).sort(),
  });
  let first: string;

  beforeAll(() => {
    const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: TOP });
    for (const file of new Set(
      listed
        .toString()
        .split('\0')
        .filter((name) => name !== ''),
    )) {
      mkdirSync(dirname(here(file)), { recursive: true });
      cpSync(join(TOP, file), here(file), { force: true });
    }
    // The linter checks only one file here: `npm test` checks all files anyway.
    const rules = { 'no-var': 'error' };
    writeFileSync(here('.oxlintrc.json'), JSON.stringify({ ignorePatterns: ['**/*', '!linted.mjs'], rules }));
    writeFileSync(here('linted.mjs'), 'export const right = 1;\n');
    const changelog = readFileSync(here('CHANGELOG.md'), 'utf8').split(/^## Unreleased$/m)[0]!;
    writeFileSync(here('CHANGELOG.md'), `${changelog}## Unreleased\n\n### Added\n\n- A thing that users notice.\n`);
    symlinkSync(join(TOP, 'node_modules'), here('node_modules'));
    symlinkSync(join(TOP, 'dist'), here('dist'));
    git('init', '--quiet');
    appendFileSync(here('.git/info/exclude'), 'dist\n');
    git('config', 'user.name', IDENTITY.name);
    git('config', 'user.email', IDENTITY.email);
    git('add', '--all');
    git('commit', '--quiet', '-m', 'all');
    first = git('rev-parse', 'HEAD');
  }, 300_000);
  beforeEach(() => {
    git('reset', '--quiet', '--hard', first);
    git('tag', '--list')
      .split('\n')
      .filter((tag) => tag !== '')
      .forEach((tag) => git('tag', '--delete', tag));
    rmSync(here('release'), { recursive: true, force: true });
  });
  afterAll(() => clone.remove());

  it('makes everything in a dry run, and changes nothing', async () => {
    const before = state();
    const { code, stdout, stderr } = await release('--version', '7.1.0', '--dry-run');
    expect({ code, stderr }).toStrictEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^release: sallyport-7\.1\.0\.tgz: \d+ files/m);
    expect(stdout).toMatch(/^release: [0-9a-f]{64} {2}sallyport-7\.1\.0\.tgz$/m);
    expect(stdout).toMatch(/^release: [0-9a-f]{64} {2}sallyport-7\.1\.0\.cdx\.json$/m);
    expect(stdout).toContain('nothing was changed');
    expect(state()).toStrictEqual(before);
  }, 300_000);

  it('commits version and changelog, tags, keeps the files with their checksums, and publishes nothing', async () => {
    const { code, stdout, stderr } = await release('--version', '7.1.0');
    expect({ code, stderr }).toStrictEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^ {2}npm publish .*sallyport-7\.1\.0\.tgz$/m);
    expect(git('status', '--porcelain')).toBe('');
    expect(git('rev-parse', 'v7.1.0^{commit}')).toBe(git('rev-parse', 'HEAD'));
    expect(git('diff', '--name-only', first, 'HEAD').split('\n').sort()).toStrictEqual([
      'CHANGELOG.md',
      'package-lock.json',
      'package.json',
    ]);
    expect(git('diff', '--numstat', first, 'HEAD', '--', 'package.json')).toMatch(/^1\t1\t/);
    expect(readFileSync(here('CHANGELOG.md'), 'utf8')).toMatch(
      /^## Unreleased\n\n## 7\.1\.0 - \d{4}-\d\d-\d\d\n\n### Added\n\n- A thing that users notice\.\n/m,
    );
    const folder = here('release/7.1.0');
    const sums = readFileSync(join(folder, 'SHA256SUMS'), 'utf8').trimEnd().split('\n');
    const expected = ['sallyport-7.1.0.tgz', 'sallyport-7.1.0.cdx.json'].map((name) => {
      const sum = createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex');
      return `${sum}  ${name}`;
    });
    expect(sums).toStrictEqual(expected);
    expect(readFileSync(join(folder, 'sallyport-7.1.0.cdx.json'), 'utf8')).toContain('"pkg:npm/sallyport@7.1.0"');
    expect(await release('--version', '7.1.0')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/not higher/) as string,
    });
  }, 300_000);

  it.each([
    { why: 'not a version', args: ['--version', '7.1'], says: '"7.1" is not a version', code: 1 },
    { why: 'a version with a v', args: ['--version', 'v7.1.0'], says: '"v7.1.0" is not a version', code: 1 },
    { why: 'a version that is not higher', args: ['--version', '0.0.9'], says: '0.0.9 is not higher than', code: 1 },
    { why: 'no version', args: ['--dry-run'], says: '--version is missing', code: 2 },
    { why: 'an unknown flag', args: ['--version', '7.1.0', '--publish'], says: "'--publish'", code: 2 },
  ])('refuses $why, and changes nothing', async ({ args, says, code }) => {
    const before = state();
    const refused = await release(...args);
    expect(refused).toMatchObject({ code, stderr: expect.stringContaining(says) as string });
    expect(refused.stderr).not.toContain('    at ');
    expect(state()).toStrictEqual(before);
  });

  it('refuses a tree with changes that are not committed', async () => {
    appendFileSync(here('README.md'), 'More.\n');
    const before = state();
    const refused = await release('--version', '7.1.0', '--dry-run');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/not committed[^]*README\.md/) as string });
    expect(state()).toStrictEqual(before);
  });

  it('refuses a changelog with nothing under Unreleased', async () => {
    writeFileSync(
      here('CHANGELOG.md'),
      '# Changelog\n\n## Unreleased\n\n### Added\n\n## 0.0.1 - 2026-01-01\n\n- Old.\n',
    );
    git('commit', '--quiet', '--all', '-m', 'nothing new');
    const before = state();
    const refused = await release('--version', '7.1.0');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('nothing to release') as string });
    expect(state()).toStrictEqual(before);
  });

  it('refuses a tree that the linter refuses', async () => {
    writeFileSync(here('linted.mjs'), 'export var wrong = 1;\n');
    git('commit', '--quiet', '--all', '-m', 'wrong');
    const before = state();
    const refused = await release('--version', '7.1.0');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/no-var[^]*lint failed/) as string });
    expect(state()).toStrictEqual(before);
  });
});
