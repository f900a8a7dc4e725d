import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { eventually, spawnNode } from '../support/process.ts';
import { reapAfterExit } from '../support/reaper.ts';
import { isAlive } from './process-liveness.ts';

const fixture = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

test('tool processes and what they started die with a worker that is killed, busy loops included', async () => {
  const worker = await spawnNode(fixture('./doomed-worker.mjs'), [
    fixture('../fixtures/modules/hostile.mjs'),
    'busyLoop',
    'neverEnds',
    'startsGrandchild',
  ]);
  const pids = (await worker.waitForLine(/^pids /)).split(' ').slice(1).map(Number);
  const grandchild = Number((await worker.waitForLine(/^grandchild \d+$/)).split(' ')[1]);
  expect(pids).toHaveLength(3);
  const all = [...pids, grandchild];
  const releases = all.map((pid) => reapAfterExit({ pid, what: 'a tool process' }));
  expect(all.map(isAlive)).toEqual([true, true, true, true]);

  worker.kill('SIGKILL');
  await worker.exited;
  await eventually(() => !all.some(isAlive), { what: `the end of ${all.join(', ')}` });
  for (const release of releases) release();
});
