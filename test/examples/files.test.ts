import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import files from '../../examples/modules/files/index.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { refusalOf, runExample, valueOf } from './run-example.ts';

let folder: TemporaryFolder;
let root: string;

beforeEach(() => {
  folder = temporaryFolder('files');
  root = join(folder.path, 'root');
  mkdirSync(join(root, 'sub'), { recursive: true });
  mkdirSync(join(folder.path, 'root-beside'));
  mkdirSync(join(folder.path, 'outside'));
  mkdirSync(join(folder.path, 'decoy/etc'), { recursive: true });
  writeFileSync(join(root, 'inside.txt'), 'INSIDE');
  for (const place of ['secret.txt', 'root-beside/secret.txt', 'outside/secret.txt', 'decoy/etc/passwd']) {
    writeFileSync(join(folder.path, place), 'SECRET');
  }
  symlinkSync('../secret.txt', join(root, 'link.txt'));
  symlinkSync('../outside', join(root, 'linked'));
  symlinkSync('inside.txt', join(root, 'inner-link.txt'));
  symlinkSync(join(folder.path, 'decoy'), join(root, 'slash'));
  symlinkSync('.', join(root, 'self'));
});
afterEach(() => folder.remove());

const run = (tool: string, args: JsonObject, setup: JsonObject = {}) =>
  runExample(files, tool, args, { setup: { root, ...setup } });

/**
 * DECOY is a folder of this test outside the root. No form names a real place of the machine: a test of broken code writes
 * to whatever it names, perhaps as root.
 */
const FORMS = [
  '../secret.txt',
  './../secret.txt',
  'sub/../../secret.txt',
  'sub/../inside.txt',
  '..',
  '../',
  '../root-beside/secret.txt',
  '../root/inside.txt',
  '....//secret.txt',
  '..\\secret.txt',
  'sub\\..\\..\\secret.txt',
  'DECOY/etc/passwd',
  '/DECOY/etc/passwd',
  'C:\\Windows\\win.ini',
  'C:/Windows/win.ini',
  'file://DECOY/etc/passwd',
  '~/files-test-secret.txt',
  '~nobody/files-test-secret.txt',
  '$HOME/files-test-secret.txt',
  '%2e%2e/secret.txt',
  '%2e%2e%2fsecret.txt',
  '..%2fsecret.txt',
  '..%c0%afsecret.txt',
  '．．/secret.txt',
  '‥/secret.txt',
  '..\u2215secret.txt',
  '..;/secret.txt',
  'inside.txt\0.png',
  '../secret.txt\0',
  'sub/\n../../secret.txt',
  'link.txt',
  './link.txt',
  'linked/secret.txt',
  'linked/../secret.txt',
  'inner-link.txt',
  'slash/etc/passwd',
  'self/inside.txt',
  'self/self/inside.txt',
  'inside.txt/',
  'inside.txt/..',
  'inside.txt/x',
  '.',
  '',
  'sub',
  'x'.repeat(256),
  'a/'.repeat(100) + 'b',
];

const inPlace = (form: string): string => form.replace('DECOY', join(folder.path, 'decoy'));

describe('files.read', () => {
  // A name that ends with a slash means the same file as the name without it here, so that form is left out.
  test.each(FORMS.filter((form) => form !== 'inside.txt/'))('refuses the path %j', async (form) => {
    expect(await refusalOf(run('read', { path: inPlace(form) }))).toMatch(
      /^(?:denied (?:PATH|LINK)_REFUSED|failed (?:NOT_FOUND|NOT_A_FOLDER|NOT_A_FILE|PATH_TOO_LONG))$/,
    );
  });

  test.each([
    ['../secret.txt', 'denied PATH_REFUSED'],
    ['/etc/passwd', 'denied PATH_REFUSED'],
    ['link.txt', 'denied LINK_REFUSED'],
    ['linked/secret.txt', 'failed NOT_A_FOLDER'],
    ['none', 'failed NOT_FOUND'],
    ['sub', 'failed NOT_A_FILE'],
  ])('says for %s: %s', async (path, refusal) => {
    expect(await refusalOf(run('read', { path }))).toBe(refusal);
  });

  test.each(['inside.txt', './inside.txt', './/inside.txt', 'inside.txt/'])('reads %s', async (path) => {
    expect(await valueOf(run('read', { path }))).toMatchObject({ text: 'INSIDE', bytes: 6 });
  });

  test('gives what is not text as a file block', async () => {
    const bytes = Buffer.from([0x89, 0x50, 0xff, 0x00]);
    writeFileSync(join(root, 'sub/picture.bin'), bytes);
    expect(await run('read', { path: 'sub/picture.bin' })).toMatchObject({
      result: { value: { bytes: 4 }, content: [{ kind: 'file', name: 'picture.bin', bytes }] },
    });
  });

  test('refuses one byte more than the limit, a sparse giant included', async () => {
    writeFileSync(join(root, 'ten'), 'x'.repeat(10));
    expect(await valueOf(run('read', { path: 'ten' }, { maxBytes: 10 }))).toMatchObject({ bytes: 10 });
    expect(await refusalOf(run('read', { path: 'ten' }, { maxBytes: 9 }))).toBe('failed FILE_TOO_LARGE');
    truncateSync(join(root, 'ten'), 2 ** 40);
    expect(await refusalOf(run('read', { path: 'ten' }))).toBe('failed FILE_TOO_LARGE');
  });

  test('refuses a FIFO without waiting for a writer', async () => {
    execFileSync('mkfifo', [join(root, 'pipe')]);
    expect(await refusalOf(run('read', { path: 'pipe' }))).toBe('failed NOT_A_FILE');
  });
});

describe('files.write', () => {
  test('makes missing folders and replaces the whole content', async () => {
    expect(await valueOf(run('write', { path: 'a/b/c.txt', content: 'long text' }))).toEqual({
      path: 'a/b/c.txt',
      bytes: 9,
    });
    await valueOf(run('write', { path: 'a/b/c.txt', content: 'ö' }));
    expect(readFileSync(join(root, 'a/b/c.txt'), 'utf8')).toBe('ö');
    expect(readdirSync(join(root, 'a/b'))).toEqual(['c.txt']);
  });

  test('keeps the mode of the file it replaces', async () => {
    writeFileSync(join(root, 'script'), '', { mode: 0o700 });
    await valueOf(run('write', { path: 'script', content: '#!' }));
    expect(statSync(join(root, 'script')).mode & 0o777).toBe(0o700);
  });

  test('takes bytes as base64, and refuses what is not', async () => {
    await valueOf(run('write', { path: 'bytes', content: '/wA=', encoding: 'base64' }));
    expect(readFileSync(join(root, 'bytes'))).toEqual(Buffer.from([0xff, 0]));
    expect(await refusalOf(run('write', { path: 'bytes', content: 'no base64!', encoding: 'base64' }))).toBe(
      'failed NOT_BASE64',
    );
  });

  test('leaves everything outside the root unchanged, for any path', async () => {
    const outside = () =>
      execFileSync('find', [folder.path, '-path', root, '-prune', '-o', '-type', 'f', '-print']).toString();
    const before = outside();
    for (const form of FORMS) await run('write', { path: inPlace(form), content: 'FOREIGN' });
    expect(outside()).toBe(before);
    for (const place of ['secret.txt', 'root-beside/secret.txt', 'outside/secret.txt', 'decoy/etc/passwd']) {
      expect(readFileSync(join(folder.path, place), 'utf8')).toBe('SECRET');
    }
  });

  test.each([
    ['link.txt', 'denied LINK_REFUSED'],
    ['linked/new.txt', 'failed NOT_A_FOLDER'],
    ['sub', 'failed NOT_A_FILE'],
    ['', 'failed NOT_A_FILE'],
  ])('to %j says %s', async (path, refusal) => {
    expect(await refusalOf(run('write', { path, content: 'x' }))).toBe(refusal);
  });

  test('replaces a hard link instead of writing through it', async () => {
    linkSync(join(folder.path, 'secret.txt'), join(root, 'hard.txt'));
    await valueOf(run('write', { path: 'hard.txt', content: 'x' }));
    expect(readFileSync(join(folder.path, 'secret.txt'), 'utf8')).toBe('SECRET');
  });

  test('past the limit, or aborted, leaves no trace', async () => {
    expect(await refusalOf(run('write', { path: 'big', content: 'xxx' }, { maxBytes: 2 }))).toBe(
      'failed FILE_TOO_LARGE',
    );
    const signal = AbortSignal.abort();
    expect(await runExample(files, 'write', { path: 'big', content: 'x' }, { setup: { root }, signal })).toMatchObject({
      kind: 'threw',
    });
    expect(existsSync(join(root, 'big'))).toBe(false);
    expect(readdirSync(root).filter((name) => name.startsWith('.draft'))).toEqual([]);
  });
});

describe('files.list and files.stat', () => {
  test('list names the kinds and follows nothing', async () => {
    expect(await valueOf(run('list', {}))).toEqual({
      entries: [
        { name: 'inner-link.txt', kind: 'link' },
        { name: 'inside.txt', kind: 'file' },
        { name: 'link.txt', kind: 'link' },
        { name: 'linked', kind: 'link' },
        { name: 'self', kind: 'link' },
        { name: 'slash', kind: 'link' },
        { name: 'sub', kind: 'folder' },
      ],
      more: false,
    });
    expect(await valueOf(run('list', { limit: 3 }))).toMatchObject({ entries: { length: 3 }, more: true });
  });

  test.each(['linked', 'slash', 'slash/etc', '..', '/', 'inside.txt', 'none'])('list refuses %j', async (path) => {
    expect(await refusalOf(run('list', { path }))).toMatch(
      /^(?:denied PATH_REFUSED|failed NOT_A_FOLDER|failed NOT_FOUND)$/,
    );
  });

  test('stat reports that a link is one, and nothing of its target', async () => {
    expect(await valueOf(run('stat', { path: 'link.txt' }))).toMatchObject({
      kind: 'link',
      bytes: '../secret.txt'.length,
    });
    expect(await valueOf(run('stat', { path: 'inside.txt' }))).toMatchObject({ kind: 'file', bytes: 6 });
    expect(await valueOf(run('stat', { path: '' }))).toMatchObject({ kind: 'folder' });
    expect(await refusalOf(run('stat', { path: 'linked/secret.txt' }))).toBe('failed NOT_A_FOLDER');
  });

  test('a root that is missing is made', async () => {
    expect(await valueOf(run('list', {}, { root: join(folder.path, 'new', 'root') }))).toEqual({
      entries: [],
      more: false,
    });
  });
});
