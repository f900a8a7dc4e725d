import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sha256 } from '../../base/sha256.ts';
import { replaceFile, writeDraft } from './replace-file.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sallyport-replace-'));
  path = join(folder, 'file');
});
afterEach(() => rmSync(folder, { recursive: true }));
const bytes = Buffer.from('new');
const modeOf = (): number => statSync(path).mode & 0o7777;

describe('replaceFile', () => {
  it('keeps the mode of the file, or sets one', () => {
    writeFileSync(path, 'old');
    chmodSync(path, 0o640);
    expect(replaceFile({ path, bytes, expected: sha256('old') })).toEqual({ kind: 'replaced' });
    expect([readFileSync(path, 'utf8'), modeOf()]).toEqual(['new', 0o640]);
    replaceFile({ path, bytes, mode: 0o600, expected: undefined });
    expect(modeOf()).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['file']);
  });

  it('writes a new file that only its user can read', () => {
    replaceFile({ path, bytes, expected: 'absent' });
    expect(modeOf()).toBe(0o600);
  });

  it('replaces nothing that it does not know', () => {
    writeFileSync(path, 'other');
    expect(replaceFile({ path, bytes, expected: sha256('old') })).toEqual({ kind: 'changed' });
    expect(replaceFile({ path, bytes, expected: 'absent' })).toEqual({ kind: 'changed' });
    expect(readFileSync(path, 'utf8')).toBe('other');
    rmSync(path);
    expect(replaceFile({ path, bytes, expected: sha256('old') })).toEqual({ kind: 'changed' });
    expect(readdirSync(folder)).toEqual([]);
  });

  it.skipIf(process.getuid?.() !== 0)('keeps the owner of the file, for root', () => {
    writeFileSync(path, 'old');
    const owner = { uid: 12_345, gid: 12_346 };
    rmSync(path);
    writeDraft(path, Buffer.from('old'), 0o600, owner);
    replaceFile({ path, bytes, expected: sha256('old') });
    expect(statSync(path)).toMatchObject(owner);
  });
});
