import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { failOnLeaks } from '../support/reaper.ts';
import type { WatchedProcess } from '../support/watched-process.ts';
import { planeFolder, type PlaneFolder } from './plane-folder.ts';

let plane: PlaneFolder;
const running: WatchedProcess[] = [];
beforeEach(() => {
  plane = planeFolder();
});
afterEach(async () => {
  // Stopped in reverse order, because workers have to stop before the plane whose store they use.
  for (const one of running.splice(0).toReversed()) await one.stop();
  plane.remove();
});
afterAll(failOnLeaks);

function writeModule(id: string, answer = 4): void {
  mkdirSync(plane.file('mine'), { recursive: true });
  writeFileSync(
    plane.file(`mine/${id}.mjs`),
    `export default {
      id: '${id}', version: '1.0.0', description: 'Rolls.',
      tools: { roll: { description: 'Rolls.', effect: 'read', input: { type: 'object' }, run: () => ${answer} } },
    };`,
  );
}

async function startDev(...args: string[]): Promise<WatchedProcess> {
  const dev = await plane.startWaiting('dev', ...args);
  running.push(dev);
  await dev.waitForLine(/^Ctrl-C ends it/);
  return dev;
}

describe('sallyport dev says at its start', { timeout: 180_000 }, () => {
  it('which modules it leaves to workers of other pools, with a command that serves them', async () => {
    for (const id of ['cup', 'dice']) writeModule(id);
    await (await startDev('--modules', 'mine')).stop();
    running.length = 0;
    // The module is moved to another pool after dev has published it in its own pool.
    writeFileSync(
      plane.file('manifest.yaml'),
      'modules: [{ file: mine/cup.mjs }, { file: mine/dice.mjs, pool: games }]',
    );
    const dev = await startDev('--modules', 'manifest.yaml');
    expect(dev.stdout).toMatch(
      /left out +dice \(pool games; start a worker for it: sallyport worker --pool games --modules manifest\.yaml\)/,
    );
    expect(dev.stdout).not.toContain('withdrawn');
    const worker = await plane.startWaiting('worker', '--pool', 'games', '--modules', 'manifest.yaml');
    running.push(worker);
    await worker.waitForLine(/^Health: /);
    expect(worker.stdout).toMatch(/^Worker \S+ serves dice in pool games,/m);
    expect((await plane.call('dice.roll', {})).stdout).toBe('4\n');
    await worker.stop();
    running.pop();
    // The worker of the other pool has not withdrawn the module that dev serves.
    expect((await plane.call('cup.roll', {})).stdout).toBe('4\n');
  });

  it('which file it could not load, what a module has beside tools, and which module it serves since then', async () => {
    mkdirSync(plane.file('mine'), { recursive: true });
    writeFileSync(plane.file('mine/a.mjs'), "export default { id: 'dice', efect: 1 };");
    writeFileSync(
      plane.file('mine/book.mjs'),
      `import { defineModule, resource } from 'sallyport/tool';
      export default defineModule({
        id: 'book', version: '1.0.0', description: 'A book.', tools: {},
        resources: [resource({ name: 'page', uri: 'book://page', read: () => 'x' })],
      });`,
    );
    const dev = await startDev('--modules', 'mine');
    expect(dev.stdout).toMatch(/tools +book \(0, 1 resource\)/);
    expect(dev.stdout).toMatch(/not loaded +\w+ \(mine\/a\.mjs\): /);
    writeModule('late');
    await dev.waitForLine(/^Served from now on: late \(1\), from mine\/late\.mjs$/);
  });

  it('which module it loaded again because its file was edited, once', async () => {
    for (const id of ['dice', 'cup']) writeModule(id);
    const dev = await startDev('--modules', 'mine');
    const file = plane.file('mine/dice.mjs');
    writeFileSync(file, `${readFileSync(file, 'utf8')}\n// edited`);
    await dev.waitForLine(/^Reloaded: dice \(1\), from mine\/dice\.mjs$/);
    writeModule('last');
    await dev.waitForLine(/^Served from now on: last/);
    expect(dev.stdout.match(/^Reloaded: .*$/gm)).toHaveLength(1);
  });

  it('that rules narrow what everyone may call', async () => {
    writeModule('dice');
    const first = await startDev('--modules', 'mine');
    writeFileSync(
      plane.file('policy.yaml'),
      "permissions: { '*': { allow: ['*'] } }\nrules: [{ id: no-dice, verdict: deny, tools: [dice.roll] }]\n",
    );
    expect((await plane.cli('policy', 'set', 'policy.yaml')).code).toBe(0);
    await first.stop();
    running.length = 0;
    const second = await startDev('--modules', 'mine');
    expect(second.stdout).toMatch(
      /policy +everyone may call every tool that is not privileged, under 1 rule \(version 2,/,
    );
  });
});
