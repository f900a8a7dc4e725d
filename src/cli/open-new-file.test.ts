import { existsSync, readdirSync, readFileSync, statSync, writeFileSync, writeSync, closeSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '../../test/support/process.ts';
import { fillNewFile } from './open-new-file.ts';

let folder: TemporaryFolder;
let path: string;
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder.path, 'out.jsonl');
});
afterEach(() => folder.remove());

const write =
  (text: string, failure?: Error) =>
  async (file: number): Promise<void> => {
    writeSync(file, text);
    closeSync(file);
    expect(existsSync(path)).toBe(false);
    if (failure !== undefined) throw failure;
  };

it('a file that could not be written to its end leaves nothing, and the next attempt works', async () => {
  const full = Object.assign(new Error('no space left'), { code: 'ENOSPC' });
  await expect(fillNewFile(path, write('half', full))).rejects.toBe(full);
  expect(readdirSync(folder.path)).toEqual([]);
  await fillNewFile(path, write('whole'));
  expect(readdirSync(folder.path)).toEqual(['out.jsonl']);
  expect(readFileSync(path, 'utf8')).toBe('whole');
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

it('a file that exists, or is made meanwhile, is not overwritten', async () => {
  const refused = { message: `${path} exists already, and is not overwritten.` };
  const meanwhile = async (file: number): Promise<void> => {
    closeSync(file);
    writeFileSync(path, 'first');
  };
  await expect(fillNewFile(path, meanwhile)).rejects.toMatchObject(refused);
  await expect(fillNewFile(path, () => Promise.reject(new Error('not asked')))).rejects.toMatchObject(refused);
  expect(readFileSync(path, 'utf8')).toBe('first');
  expect(readdirSync(folder.path)).toEqual(['out.jsonl']);
});
