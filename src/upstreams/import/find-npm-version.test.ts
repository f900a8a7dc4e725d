import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findNpmVersion } from './find-npm-version.ts';

let home: string;
beforeEach(() => (home = mkdtempSync(join(tmpdir(), 'sallyport-npm-'))));
afterEach(() => rmSync(home, { recursive: true }));

/** Asks a program that stands in for npm. */
function ask(script: string): Promise<string | undefined> {
  writeFileSync(join(home, 'npm'), `#!/bin/sh\n${script}\n`);
  chmodSync(join(home, 'npm'), 0o755);
  const PATH = `${home}:${process.env['PATH']}`;
  return findNpmVersion('@a/b', { home, env: { PATH, HOME: home, MY_TOKEN: 'x', npm_config_registry: 'y' } });
}

describe('findNpmVersion', () => {
  it('asks npm in the home folder, without the rest of the environment', async () => {
    expect(await ask('echo "$PWD $*" > asked; env >> asked; echo 1.2.3')).toBe('1.2.3');
    const asked = readFileSync(join(home, 'asked'), 'utf8');
    expect(asked).toMatch(new RegExp(`^${home} view @a/b version\n`));
    expect(asked).toContain('npm_config_registry=y');
    expect(asked).not.toContain('MY_TOKEN');
  });

  it.each(['exit 1', 'echo latest', 'echo; echo 1.2.3; echo 1.2.4', 'true'])(
    'takes no other answer: %s',
    async (script) => {
      expect(await ask(script)).toBeUndefined();
    },
  );

  it('does without npm', async () => {
    expect(await findNpmVersion('a', { home, env: { PATH: home } })).toBeUndefined();
  });
});
