import { once } from 'node:events';
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import files from '../../examples/modules/files/index.ts';
import { temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { runExample } from './run-example.ts';

const TRIES = 500;

/** Puts a link to the outside in place of a name and takes it away again, until it is stopped. Counts its rounds. */
const SWAPPER = `
  const { renameSync, rmSync } = require('node:fs');
  const { workerData } = require('node:worker_threads');
  const { name, good, link, state } = workerData;
  const words = new Int32Array(state);
  function move(from, to) {
    for (;;) {
      try {
        return renameSync(from, to);
      } catch (error) {
        // A writer made a new folder in the gap.
        if (!['EISDIR', 'ENOTEMPTY', 'EEXIST'].includes(error.code)) throw error;
        try {
          rmSync(to, { recursive: true, force: true });
        } catch {
          // It is being written to: the next round takes it.
        }
      }
    }
  }
  while (Atomics.load(words, 0) === 0) {
    move(name, good);
    move(link, name);
    move(name, link);
    move(good, name);
    Atomics.add(words, 1, 1);
  }
`;

let folder: TemporaryFolder;
let root: string;
let state: SharedArrayBuffer;
let swapped: Promise<unknown>;
let broken: unknown;

beforeEach(() => {
  folder = temporaryFolder('files-race');
  root = join(folder.path, 'root');
  mkdirSync(join(root, 'dir'), { recursive: true });
  mkdirSync(join(folder.path, 'outside'));
  writeFileSync(join(root, 'dir/data.txt'), 'INSIDE');
  writeFileSync(join(folder.path, 'outside/data.txt'), 'SECRET');
  state = new SharedArrayBuffer(8);
  broken = undefined;
});
afterEach(async () => {
  Atomics.store(new Int32Array(state), 0, 1);
  await swapped;
  folder.remove();
});

const rounds = (): number => Atomics.load(new Int32Array(state), 1);

function swap(name: string, target: string): void {
  const path = join(root, name);
  symlinkSync(target, `${path}.link`);
  const workerData = { name: path, good: `${path}.good`, link: `${path}.link`, state };
  const swapper = new Worker(SWAPPER, { eval: true, workerData });
  swapper.once('error', (error) => (broken = error));
  swapped = once(swapper, 'exit').catch(() => {});
}

/** Repeats the tool until there were enough tries and the swapper made enough rounds in the same time. */
async function race(tool: string, args: Record<string, string>): Promise<Set<string>> {
  const seen = new Set<string>();
  for (let tries = 0; broken === undefined && (tries < TRIES || rounds() < TRIES); tries += 1) {
    const ending = await runExample(files, tool, args, { setup: { root } });
    seen.add(JSON.stringify(ending.kind === 'returned' ? ending.result.value : ending.kind));
  }
  if (broken !== undefined) throw new Error('the swapper broke', { cause: broken });
  return seen;
}

describe('files under swaps', () => {
  test('reads no byte of the outside while its folder becomes a link and back', async () => {
    swap('dir', '../outside');
    const seen = [...(await race('read', { path: 'dir/data.txt' }))].join('\n');
    expect(seen).toContain('INSIDE');
    expect(seen).not.toContain('SECRET');
  });

  test('reads no byte of the outside while the file becomes a link and back', async () => {
    swap('dir/data.txt', '../../outside/data.txt');
    const seen = [...(await race('read', { path: 'dir/data.txt' }))].join('\n');
    expect(seen).toContain('INSIDE');
    expect(seen).not.toContain('SECRET');
  });

  test('writes no byte to the outside while its folder becomes a link and back', async () => {
    swap('dir', '../outside');
    const seen = [...(await race('write', { path: 'dir/data.txt', content: 'FOREIGN' }))].join('\n');
    expect(seen).toContain('"bytes":7');
    expect(readdirSync(join(folder.path, 'outside'))).toEqual(['data.txt']);
    expect(readFileSync(join(folder.path, 'outside/data.txt'), 'utf8')).toBe('SECRET');
  });
});
