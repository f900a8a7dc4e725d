import { EventEmitter, once } from 'node:events';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { watchPaths } from '../../src/base/watch-paths.ts';
import { temporaryFolder } from '../support/process.ts';

const toClose: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of toClose.splice(0).toReversed()) await close();
});

/** Two folders with one file each. The first file and the second folder are watched. */
async function watchTwo() {
  const folder = temporaryFolder('sallyport-watched');
  toClose.push(() => folder.remove());
  const [file, mods] = [join(folder.path, 'one/a.yaml'), join(folder.path, 'mods')];
  mkdirSync(join(folder.path, 'one'));
  mkdirSync(mods);
  writeFileSync(file, 'a: 1');
  writeFileSync(join(mods, 'a.mjs'), 'a');
  const events = new EventEmitter();
  const watch = watchPaths([file, mods], { settleMs: 40, onChange: () => events.emit('change'), onError: () => {} });
  toClose.push(() => watch.close());
  await watch.ready;
  const changedBy = async (change: () => void): Promise<unknown> => {
    const changed = once(events, 'change', { signal: AbortSignal.timeout(30_000) });
    change();
    return changed;
  };
  /** Resolves when two looks at the paths have passed without a change. */
  const untilQuiet = async (): Promise<void> => {
    const quiet = (): Promise<unknown> => once(events, 'change', { signal: AbortSignal.timeout(1500) });
    while (await quiet().then(Boolean, () => false));
  };
  return { file, mods, aside: join(folder.path, 'aside'), changedBy, untilQuiet };
}

describe('watchPaths', () => {
  it('reports a file that is gone, that is back, and that changes after that', async () => {
    const { file, changedBy } = await watchTwo();
    await expect(changedBy(() => rmSync(file))).resolves.toBeDefined();
    await expect(changedBy(() => writeFileSync(file, 'a: 2'))).resolves.toBeDefined();
    await expect(changedBy(() => writeFileSync(file, 'a: 3'))).resolves.toBeDefined();
    await expect(changedBy(() => writeFileSync(file, 'a: 4'))).resolves.toBeDefined();
  });

  it('reports a folder that is gone, that is back, and what changes in it after that', async () => {
    const { mods, aside, changedBy } = await watchTwo();
    await expect(changedBy(() => renameSync(mods, aside))).resolves.toBeDefined();
    await expect(changedBy(() => mkdirSync(mods))).resolves.toBeDefined();
    await expect(changedBy(() => writeFileSync(join(mods, 'b.mjs'), 'b'))).resolves.toBeDefined();
    await expect(changedBy(() => writeFileSync(join(mods, 'b.mjs'), 'bb'))).resolves.toBeDefined();
  });

  it('reports a folder that was moved away and is back, and what changes in it after that', async () => {
    const { mods, aside, changedBy, untilQuiet } = await watchTwo();
    await expect(changedBy(() => renameSync(mods, aside))).resolves.toBeDefined();
    await untilQuiet();
    await expect(changedBy(() => renameSync(aside, mods))).resolves.toBeDefined();
    await untilQuiet();
    await expect(changedBy(() => writeFileSync(join(mods, 'a.mjs'), 'aa'))).resolves.toBeDefined();
  });

  it('follows a folder that was away only between two looks', async () => {
    const { mods, aside, changedBy, untilQuiet } = await watchTwo();
    const thereAndBack = (): void => {
      renameSync(mods, aside);
      renameSync(aside, mods);
    };
    await expect(changedBy(thereAndBack)).resolves.toBeDefined();
    await untilQuiet();
    await expect(changedBy(() => writeFileSync(join(mods, 'a.mjs'), 'aa'))).resolves.toBeDefined();
  });

  it('can be closed while a file is being watched anew', async () => {
    const { file, changedBy } = await watchTwo();
    await changedBy(() => rmSync(file));
    writeFileSync(file, 'a: 2');
    for (const close of toClose.splice(1)) expect(await close()).toBeUndefined();
  });
});
