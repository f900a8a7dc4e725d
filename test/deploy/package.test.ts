import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { DIST, walkDist } from '../support/walk-dist.ts';

const TOP = fileURLToPath(new URL('../../', import.meta.url));

describe('the package', () => {
  let packed: string[];
  let reached: string[];
  beforeAll(() => {
    const listed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: TOP,
      encoding: 'utf8',
    });
    const [{ files }] = JSON.parse(listed) as [{ files: { path: string }[] }];
    packed = files.map(({ path }) => path);
    const exported = readdirSync(join(DIST, 'exports')).filter((file) => file.endsWith('.js'));
    reached = [...walkDist('cli/main.js', ...exported.map((file) => `exports/${file}`)).files].map(
      (file) => `dist/${file}`,
    );
  });

  it('holds every file that its command and its exports can load or start', () => {
    expect(reached.filter((file) => !packed.includes(file))).toStrictEqual([]);
    expect(reached).toContain('dist/runners/process/watchdog-thread.js');
    expect(reached).toContain('dist/compose/supervisor-thread.js');
  });

  it('holds no code that they do not reach', () => {
    const code = packed.filter((file) => file.endsWith('.js') && !/^dist\/(?:console|examples)\//.test(file));
    expect(code.filter((file) => !reached.includes(file))).toStrictEqual([]);
  });

  it('holds every Lua file, and the terms of the packages in its chunks', () => {
    const lua = readdirSync(join(TOP, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.lua'),
    );
    expect(lua.filter((file) => !packed.includes(`dist/${file}`))).toStrictEqual([]);
    expect(packed).toContain('dist/third-party-licenses.txt');
  });
});
