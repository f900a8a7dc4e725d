import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startCli, writeManifest } from '../cli/run-cli.ts';
import { freePort, spawnNode, temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import type { WatchedProcess } from '../support/watched-process.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

const CHECK = fileURLToPath(new URL('../../deploy/container/check-health.mjs', import.meta.url));

describe('the health check of the image', () => {
  let folder: TemporaryFolder;
  let env: Record<string, string>;
  let worker: WatchedProcess;
  let gateway: WatchedProcess;
  beforeAll(async () => {
    folder = temporaryFolder('sallyport-health');
    env = {
      SALLYPORT_FOLDER: join(folder.path, 'store'),
      SALLYPORT_WORKER_MODULES: writeManifest(folder.path),
      SALLYPORT_WORKER_HEALTH_PORT: String(await freePort()),
      SALLYPORT_GATEWAY_HEALTH_PORT: String(await freePort()),
      SALLYPORT_GATEWAY_HTTP_PORT: '0',
    };
    worker = await startCli(['worker'], { cwd: folder.path, env });
    await worker.waitForLine(/^Health: /, 60_000);
    gateway = await startCli(['gateway'], { cwd: folder.path, env });
    await gateway.waitForLine(/^Health: /, 60_000);
  });
  afterAll(async () => {
    await gateway.stop();
    await worker.stop();
    folder.remove();
    failOnLeaks();
  });

  async function check(question: string, pid: number | string): Promise<{ code: number | null; said: string }> {
    const child = await spawnNode(CHECK, [question, String(pid)], { env });
    const { code } = await child.exited;
    return { code, said: child.stdout + child.stderr };
  }

  it('asks the role that the process has', async () => {
    for (const [role, { pid }] of Object.entries({ worker, gateway })) {
      const ready = await check('ready', pid);
      expect([role, ready.code, ready.said]).toStrictEqual([
        role,
        0,
        expect.stringContaining(`${role}: {"status":"ready"`),
      ]);
      expect(await check('live', pid)).toStrictEqual({ code: 0, said: `${role}: {"status":"alive"}\n` });
    }
  });

  it('is red for other processes and wrong arguments', async () => {
    const here = await check('ready', process.pid);
    expect(here).toStrictEqual({ code: 1, said: `Process ${process.pid} is neither a worker nor a gateway.\n` });
    expect(await check('redy', worker.pid)).toStrictEqual({
      code: 1,
      said: 'Usage: node check-health.mjs ready|live [PID]\n',
    });
  });

  it('is red for a process that is frozen or gone', async () => {
    gateway.kill('SIGSTOP');
    const frozen = await check('live', gateway.pid);
    gateway.kill('SIGCONT');
    expect(frozen.code).toBe(1);
    expect(frozen.said).toContain('gateway: no answer on port');
    expect((await check('live', gateway.pid)).code).toBe(0);
    await gateway.stop();
    expect((await check('ready', gateway.pid)).code).toBe(1);
  });
});
