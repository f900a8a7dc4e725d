import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { existingSecretsIn, writeSecrets } from './secrets-folder.ts';

let parent: string;
let folder: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'sallyport-secrets-'));
  folder = join(parent, 'secrets');
});
afterEach(() => rmSync(parent, { recursive: true }));

const secret = (name: string, value: string | undefined) => ({ name, value, setting: 'x' });

describe('writeSecrets', () => {
  it('makes no folder without a value', () => {
    expect(writeSecrets(folder, [secret('A', undefined)])).toEqual({ kind: 'written', names: [] });
    expect(existingSecretsIn(folder)('A')).toBeUndefined();
  });

  it('keeps values with line breaks whole', () => {
    writeSecrets(folder, [secret('A', 'one\ntwo\n'), secret('B', 'three')]);
    expect(existingSecretsIn(folder)('A')).toEqual({ value: 'one\ntwo\n' });
    expect(readFileSync(join(folder, 'B'), 'utf8')).toBe('three\n');
  });

  it('refuses a link, a file, and a folder that is open', () => {
    const refused = (): unknown => (writeSecrets(folder, [secret('A', 'xxxx')]) as { problem?: string }).problem;
    mkdirSync(join(parent, 'real'), { mode: 0o700 });
    symlinkSync(join(parent, 'real'), folder);
    expect(refused()).toBe(`${folder} is not a folder`);
    rmSync(folder);
    writeFileSync(folder, '');
    expect(refused()).toBe(`${folder} is not a folder`);
    rmSync(folder);
    mkdirSync(folder);
    chmodSync(folder, 0o710);
    expect(refused()).toBe(`${folder} is open to other users`);
  });

  it('counts a file that others can read as there, and not as a value', () => {
    mkdirSync(folder, { mode: 0o700 });
    writeFileSync(join(folder, 'A'), 'xxxx');
    chmodSync(join(folder, 'A'), 0o644);
    expect(existingSecretsIn(folder)('A')).toBe('unreadable');
  });
});
