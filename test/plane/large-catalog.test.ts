import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { indexTools } from '../../src/domain/tool/catalog.ts';
import type { ReadFacts } from '../../bench/catalog/read-catalog.ts';
import { peakMb, residentMb } from '../../bench/catalog/resident.ts';
import { firstTool, lastTool, LARGE, writeModules } from '../../bench/catalog/write-modules.ts';
import { spawnNode } from '../support/process.ts';
import { BACKENDS, stagePlane, type StagedPlane } from './support/stage-plane.ts';

const TOOLS = LARGE.modules * LARGE.toolsPerModule;
const CLIENT_PROGRAM = fileURLToPath(new URL('../../dist/bench/catalog/read-catalog.js', import.meta.url));
// In the package's own tree, so that the modules can import it by its name.
const PARENT = fileURLToPath(new URL('../../dist/.test-modules/', import.meta.url));

let modules: { readonly folder: string; readonly inOrder: string; readonly reversed: string };
beforeAll(() => {
  mkdirSync(PARENT, { recursive: true });
  const folder = mkdtempSync(PARENT);
  modules = { folder, inOrder: join(folder, 'in-order'), reversed: join(folder, 'reversed') };
  writeModules(modules.inOrder);
  writeModules(modules.reversed, LARGE, (index) => `file-${String(LARGE.modules - index).padStart(3, '0')}`);
});
afterAll(() => rmSync(modules.folder, { recursive: true, force: true }));

describe.each(BACKENDS)(`a catalog of ${TOOLS} tools on %s`, (backend) => {
  let plane: StagedPlane;
  beforeEach(async () => {
    plane = await stagePlane(backend);
  });
  afterEach(() => plane.stop());

  async function startMeasured(folder: string) {
    const startedAt = performance.now();
    const worker = await plane.startWorker({ modules: folder });
    return { worker, startMs: Math.round(performance.now() - startedAt) };
  }

  /** A process that has never seen the modules' code. */
  async function readFromAnotherProcess(): Promise<ReadFacts> {
    const tools = [firstTool(), lastTool(LARGE)];
    const client = await spawnNode(CLIENT_PROGRAM, [JSON.stringify({ store: plane.storeOptions, tools })]);
    return JSON.parse(await client.waitForLine(/^\{/)) as ReadFacts;
  }

  it('is published whole, read by a client, and the same after a reload in another order', async () => {
    const { worker, startMs } = await startMeasured(modules.inOrder);
    const facts = await readFromAnotherProcess();
    expect(facts).toMatchObject({ tools: TOOLS, sequence: 1 });
    expect(facts.calls).toMatchObject([
      { tool: firstTool(), kind: 'ok', by: firstTool() },
      { tool: lastTool(LARGE), kind: 'ok', by: lastTool(LARGE) },
    ]);
    const published = await plane.client.catalog();
    expect(published.modules).toHaveLength(LARGE.modules);
    const tools = [...indexTools(published).values()].map(({ tool }) => tool);
    expect(new Set(tools.map(({ digest }) => digest)).size).toBe(TOOLS);
    expect(published.digest).toBe(facts.digest);
    const memory = `worker ${Math.round(residentMb(worker.process.pid))} MiB (peak ${Math.round(peakMb(worker.process.pid))})`;

    expect((await worker.process.stop()).code).toBe(0);
    const again = await startMeasured(modules.reversed);
    const reloaded = await plane.client.catalog();
    expect({ sequence: reloaded.sequence, digest: reloaded.digest }).toStrictEqual({
      sequence: 1,
      digest: facts.digest,
    });
    expect(reloaded.modules).toStrictEqual(published.modules);
    console.log(
      `${backend}: worker ready after ${startMs} ms, again ${again.startMs} ms; client read it in ${Math.round(facts.readMs)} ms, ` +
        `calls ${facts.calls.map(({ ms }) => `${Math.round(ms)} ms`).join(', ')}; ${memory}, client ${Math.round(facts.residentMb)} MiB`,
    );
  });
});
