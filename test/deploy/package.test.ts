import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { publint } from 'publint';
import { beforeAll, describe, expect, it } from 'vitest';
import { links, readPages } from '../docs/pages.ts';
import { spawnNode } from '../support/process.ts';
import { walkPackage } from '../support/walk-dist.ts';

const TOP = fileURLToPath(new URL('../../', import.meta.url));
const readJson = (file: string): unknown => JSON.parse(readFileSync(join(TOP, file), 'utf8'));

const { dependencies } = readJson('package.json') as { dependencies: Record<string, string> };
const isInstalled = (name: string): boolean =>
  name.startsWith('node:') || Object.keys(dependencies).some((each) => name === each || name.startsWith(`${each}/`));

/** What a file imports by name. One of the two groups of the pattern is the name. */
function packagesIn(file: string, imports: RegExp): { readonly file: string; readonly name: string }[] {
  const text = readFileSync(join(TOP, file), 'utf8');
  // Comments of declarations have examples with imports.
  const found = (file.endsWith('.d.ts') ? text.replaceAll(/\/\*[^]*?\*\//g, '') : text).matchAll(imports);
  return [...found].map(([, named, inline]) => ({ file, name: (named ?? inline)! }));
}

interface Packed {
  readonly files: readonly { readonly path: string }[];
}

describe('the package', () => {
  let packed: string[];
  let reached: string[];
  beforeAll(() => {
    const listed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: TOP,
      encoding: 'utf8',
    });
    const [{ files }] = JSON.parse(listed) as [Packed];
    packed = files.map(({ path }) => path);
    reached = [...walkPackage().files].map((file) => `dist/${file}`);
  }, 300_000);

  it('holds every file that its command and its exports can load or start', () => {
    expect(reached.filter((file) => !packed.includes(file))).toStrictEqual([]);
    expect(reached).toContain('dist/worker/runners/process/watchdog-thread.js');
    expect(reached).toContain('dist/compose/supervisor-thread.js');
  });

  it('holds no code that they do not reach, and no source maps', () => {
    const code = packed.filter(
      (file) => file.endsWith('.js') && !/^(?:dist\/(?:console|examples)|examples)\//.test(file),
    );
    expect(code.filter((file) => !reached.includes(file))).toStrictEqual([]);
    expect(packed.filter((file) => file.endsWith('.map'))).toStrictEqual([]);
  });

  it('is packed by `npm run pack`, which builds first, with the flags of npm', () => {
    const listed = execFileSync('npm', ['run', '--silent', 'pack', '--', '--dry-run', '--json'], {
      cwd: TOP,
      encoding: 'utf8',
    });
    const [{ files }] = JSON.parse(listed) as [Packed];
    expect(files.map(({ path }) => path).toSorted()).toStrictEqual(packed.toSorted());
  });

  it('is packed with one line of output: the file, its size and how many files it holds', () => {
    const args = ['run', '--silent', 'pack', '--', '--dry-run', '--pack-destination', '/tmp'];
    const { stdout, stderr } = spawnSync('npm', args, { cwd: TOP, encoding: 'utf8' });
    expect(stdout).toMatch(/^\/tmp\/sallyport-\S+\.tgz: \d+\.\d MB, \d+ files \(not written: --dry-run\)\n$/);
    expect(stdout).toContain(` ${packed.length} files`);
    expect(stderr).not.toContain('npm notice');
  });

  it('holds every Lua file, and the terms of the packages in its chunks', () => {
    const lua = readdirSync(join(TOP, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.lua'),
    );
    expect(lua.filter((file) => !packed.includes(`dist/${file}`))).toStrictEqual([]);
    expect(packed).toContain('dist/third-party-licenses.txt');
    expect(packed).toContain('dist/sbom.cdx.json');
  });

  it('holds every file and every picture that its pages link to', () => {
    const isHeld = (path: string): boolean =>
      packed.includes(path) || (path.endsWith('/') && packed.some((file) => file.startsWith(path)));
    const pages = readPages().filter(({ path }) => packed.includes(path));
    const relative = pages.flatMap((page) =>
      links(page)
        .filter(({ target }) => !/^(?:https?:|#)/.test(target))
        .map(({ place, target }) => ({ place, path: normalize(join(dirname(page.path), target.split('#')[0]!)) })),
    );
    expect(relative.filter(({ path }) => !isHeld(path))).toStrictEqual([]);
    expect(pages.map(({ path }) => path)).toContain('README.md');
    expect(relative.length).toBeGreaterThan(100);
  });

  it('imports only packages that are installed with it', () => {
    const imported = packed
      .filter((file) => reached.includes(file))
      .flatMap((file) => packagesIn(file, /^(?:import|export)\b[^;'"]*"([^".][^"]*)";$|\bimport\("([^".][^"]*)"\)/gm));
    expect(imported.filter(({ name }) => !isInstalled(name))).toStrictEqual([]);
    expect(imported.map(({ name }) => name)).toContain('msgpackr');
  });

  it('names types that import only what is installed with it', () => {
    const types = packed.filter((file) => file.endsWith('.d.ts'));
    const imported = types.flatMap((file) =>
      packagesIn(file, /^(?:import|export)\b.*\bfrom '([^'.][^']*)'|\bimport\(["']([^"'.][^"']*)["']\)/gm),
    );
    expect(imported.filter(({ name }) => !isInstalled(name))).toStrictEqual([]);
    expect(imported.map(({ name }) => name)).toContain('zod');
    expect(types.every((file) => file.startsWith('dist/types/'))).toBe(true);
  });

  it('has nothing that publint finds fault with', async () => {
    const { messages } = await publint({ pkgDir: TOP, strict: true, level: 'suggestion' });
    expect(messages).toStrictEqual([]);
  });

  it('works in an empty project with nothing but its dependencies: a call, the console, strict types, an agent', async () => {
    const journey = await spawnNode(join(TOP, 'scripts/journey-package.mjs'), ['--offline']);
    const { code } = await journey.exited;
    expect({ code, stderr: journey.stderr }).toMatchObject({ code: 0 });
    expect(journey.stdout).toContain('3 passed, 0 failed');
  }, 300_000);
});
