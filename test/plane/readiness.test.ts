import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { startWorker, type RunningWorker } from '../../src/compose/start-worker.ts';
import { jsonOf, MAIN, runCli, writeManifest } from '../cli/run-cli.ts';
import { canMount } from '../embedded/store-process.ts';
import { createModuleFolder, moduleText } from '../fixtures/catalog/module-folder.ts';
import { eventually, temporaryFolder } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { startRedis } from '../support/redis-server.ts';
import { SILENT_LOG } from '../support/sample-call.ts';
import { startProgram } from '../support/watched-process.ts';

const MIB = 1024 * 1024;
afterAll(failOnLeaks);

interface Shown {
  readonly status: number;
  readonly reasons: readonly string[];
}

async function readyz(url: string): Promise<Shown> {
  const answer = await fetch(`${url}/readyz`);
  return { status: answer.status, reasons: ((await answer.json()) as { reasons: string[] }).reasons };
}

describe('a worker', () => {
  it('is ready only with the modules that it served before', async () => {
    const redis = await startRedis();
    const folder = createModuleFolder({
      'one.mjs': moduleText({ id: 'one' }),
      'two.mjs': moduleText({ id: 'two' }),
    });
    const on = async (work: (worker: RunningWorker) => Promise<void>, modules = folder.path): Promise<void> => {
      const worker = await startWorker({ store: 'redis', redis: { url: redis.url }, modules, log: SILENT_LOG });
      await work(worker).finally(() => worker.drain());
    };
    try {
      const empty = createModuleFolder({});
      await on(async (worker) => {
        expect(await readyz(worker.healthUrl!)).toStrictEqual({
          status: 503,
          reasons: ['no module was loaded for pool default: none was found'],
        });
      }, empty.path);
      empty.dispose();
      await on(async (worker) => expect((await readyz(worker.healthUrl!)).status).toBe(200));
      folder.write('two.mjs', 'export default {{');
      folder.write('three.mjs', 'export default {{');
      await on(async (worker) => {
        const { status, reasons } = await readyz(worker.healthUrl!);
        expect(status).toBe(503);
        expect(reasons).toStrictEqual(['the module two was served before and does not load']);
        const env = { SALLYPORT_STORE: 'redis', SALLYPORT_REDIS_URL: redis.url };
        const doctor = jsonOf(await runCli(['doctor', '--json'], { cwd: folder.path, env }));
        expect(doctor['checks']).toContainEqual(
          expect.objectContaining({
            name: 'ghost tools',
            state: 'bad',
            found: expect.stringContaining('two.') as string,
          }),
        );
      });
      folder.remove('two.mjs');
      folder.remove('three.mjs');
      await on(async (worker) => expect((await readyz(worker.healthUrl!)).status).toBe(200));
    } finally {
      folder.dispose();
      await redis.stop();
    }
  });
});

describe.skipIf(!canMount())('the embedded plane on a disk of its own', () => {
  it('is not ready while the disk is full, doctor says so, and it is ready again when there is room', async () => {
    const folder = temporaryFolder('sallyport-full-plane');
    const disk = join(folder.path, 'disk');
    mkdirSync(disk);
    const modules = writeManifest(folder.path);
    const command = `mount -t tmpfs -o size=32m tmpfs "$1" && cd "$1" && exec "$2" "$3" dev --modules "$4" --http-port 0`;
    const shell = ['--mount', 'bash', '-c', command, 'bash', disk, process.execPath, MAIN, modules];
    const dev = await startProgram('unshare', shell, { env: { XDG_RUNTIME_DIR: folder.path } });
    try {
      await dev.waitForLine(/^Ctrl-C ends it/);
      const urls = [/health +(http:\S+)\/readyz/, /mcp +(http:\S+)\/mcp/].map((shown) => shown.exec(dev.stdout)![1]!);
      const statuses = async (): Promise<number[]> => Promise.all(urls.map(async (url) => (await readyz(url)).status));
      expect(await statuses()).toStrictEqual([200, 200]);
      const files = `/proc/${dev.pid}/root${disk}`;
      fill(join(files, 'ballast'));
      expect(await statuses()).toStrictEqual([503, 503]);
      expect((await readyz(urls[0]!)).reasons).toStrictEqual([
        expect.stringContaining('the disk of the store is full'),
      ]);
      const doctor = jsonOf(
        await runCli(['doctor', '--json', '--folder', join(files, '.sallyport')], { cwd: folder.path }),
      );
      expect(doctor['checks']).toContainEqual(expect.objectContaining({ name: 'disk', state: 'bad' }));
      rmSync(join(files, 'ballast'));
      await eventually(async () => (await statuses()).every((status) => status === 200), { what: 'readiness' });
    } finally {
      await dev.stop();
      folder.remove();
    }
  });
});

/** Writes until the system refuses. */
function fill(file: string): void {
  try {
    for (;;) writeFileSync(file, Buffer.alloc(MIB), { flag: 'a' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
  expect(readFileSync(file).byteLength).toBeGreaterThan(MIB);
}
