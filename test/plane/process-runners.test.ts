import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAlive } from '../runners/process-liveness.ts';
import { eventually, temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { stagePlane, type StagedPlane } from './support/stage-plane.ts';

const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/modules/${name}`, import.meta.url));
const SECRET = 'REACH_TEST_SECRET';

interface Counted {
  readonly calls: number;
  readonly pid: number;
}

let plane: StagedPlane;
let folder: TemporaryFolder;
beforeAll(async () => {
  folder = temporaryFolder('process runners');
  const modules = [
    { file: fixture('friendly.mjs'), id: 'shared', runner: 'process' },
    { file: fixture('friendly.mjs'), id: 'single', runner: 'process-per-call' },
    { file: fixture('reach.mjs'), runner: 'process-per-call' },
  ];
  const manifest = join(folder.path, 'modules.json');
  writeFileSync(manifest, JSON.stringify({ modules }));
  plane = await stagePlane('embedded');
  process.env[SECRET] = 'of the worker';
  await plane.startWorker({ modules: manifest });
});
afterAll(async () => {
  delete process.env[SECRET];
  await plane.stop();
  folder.remove();
});

async function call<Value>(tool: string, args: Record<string, string> = {}): Promise<Value> {
  const session = await plane.openSession();
  const answer = await plane.client.call(session, tool, args, { waitMs: 60_000 });
  if (answer.kind !== 'settled') throw new Error(answer.kind);
  return answer.outcome.structured as unknown as Value;
}

describe('a module with a process for each call', () => {
  it('leaves nothing behind for the next call: neither memory nor a process', async () => {
    const single = [await call<Counted>('single.count'), await call<Counted>('single.count')];
    expect(single.map(({ calls }) => calls)).toEqual([1, 1]);
    expect(single[0]!.pid).not.toBe(single[1]!.pid);
    await eventually(() => single.every(({ pid }) => !isAlive(pid)), { what: 'both to end' });
    // For comparison: calls of one module share a process.
    const shared = [await call<Counted>('shared.count'), await call<Counted>('shared.count')];
    expect(shared.map(({ calls }) => calls)).toEqual([1, 2]);
  });
});

/** What docs/security.md says of process modules: no sandbox. A test that fails here because less can be reached is good news. */
describe('a module in a process of its own', () => {
  it('is not given the environment of the worker, and can read it all the same', async () => {
    expect(await call('reach.environment', { name: SECRET })).toEqual({ own: null, worker: 'of the worker' });
  });

  it('can open the socket of the embedded store', async () => {
    const { socket } = JSON.parse(readFileSync(join(plane.folder, 'store', 'plane.json'), 'utf8')) as {
      socket: string;
    };
    expect(await call('reach.socket', { path: socket })).toEqual({ opened: true });
  });
});
