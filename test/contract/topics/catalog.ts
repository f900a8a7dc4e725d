import { expect, it } from 'vitest';
import { EMPTY_CATALOG } from '../../../src/domain/tool/catalog.ts';
import { toolId } from '../../../src/domain/identity/ids.ts';
import type { ModuleDeclaration } from '../../../src/domain/tool/module.ts';
import { DEFAULT_LIMITS, type ToolDeclaration } from '../../../src/domain/tool/tool.ts';
import { catalogDigest, moduleDigest, toolDigest } from '../../../src/domain/tool/digest.ts';
import type { Scene } from '../scene.ts';

function moduleOf(id: string, tools: number): ModuleDeclaration {
  const module = {
    id,
    description: `Módule ${id} "quoted"`,
    version: '1.2.3',
    pool: 'main',
    tools: Array.from({ length: tools }, (_, index) => toolOf(id, `tool-${index}`)),
  };
  return { ...module, digest: moduleDigest(module) };
}

function toolOf(module: string, name: string): ToolDeclaration {
  const tool = {
    id: toolId(module, name),
    description: `Does ${name} – really`,
    inputSchema: {
      type: 'object',
      properties: { path: { type: 'string', pattern: '^\\w+$' }, deep: {} },
      required: [],
    },
    effect: 'read',
    privileged: false,
    serial: false,
  } as const;
  const declaration = { ...tool, inputSchema: { ...tool.inputSchema, required: [...tool.inputSchema.required] } };
  return { ...declaration, limits: DEFAULT_LIMITS, digest: toolDigest(declaration) };
}

function publication(...modules: ModuleDeclaration[]) {
  return { digest: catalogDigest(modules), modules };
}

export function describeCatalog(scene: Scene): void {
  it('a new store has an empty catalog', async () => {
    const store = await scene.open();
    expect(await store.readCatalog()).toEqual(EMPTY_CATALOG);
  });

  it('writeCatalog publishes the whole data under a higher sequence, for every connection', async () => {
    const [store, other] = await scene.openPair();
    const published = publication(moduleOf('files', 40), moduleOf('web', 300));
    const answer = await store.writeCatalog({ expectedSequence: 0, ...published });
    expect(answer).toEqual({ kind: 'written', sequence: expect.any(Number) });
    expect(answer.sequence).toBeGreaterThan(0);
    expect(await other.readCatalog()).toEqual({ sequence: answer.sequence, ...published });
  });

  it('writeCatalog made for another sequence changes nothing and names the current one', async () => {
    const store = await scene.open();
    const published = publication(moduleOf('files', 1));
    const { sequence } = await store.writeCatalog({ expectedSequence: 0, ...published });
    const older = publication(moduleOf('old', 1));
    for (const expectedSequence of [0, sequence + 1]) {
      expect(await store.writeCatalog({ expectedSequence, ...older })).toEqual({ kind: 'conflict', sequence });
    }
    expect(await store.readCatalog()).toEqual({ sequence, ...published });
  });

  it('writeCatalog repeated after a lost answer says written again and writes once', async () => {
    const store = await scene.open();
    const request = { expectedSequence: 0, ...publication(moduleOf('files', 2)) };
    const first = await store.writeCatalog(request);
    expect(first).toMatchObject({ kind: 'written' });
    expect(await store.writeCatalog(request)).toEqual(first);
    expect((await store.readCatalog()).sequence).toBe(first.sequence);
  });

  it('writeCatalog by two writers lets exactly one win, every time', async () => {
    const [store, other] = await scene.openPair();
    let sequence = 0;
    for (let round = 0; round < 10; round += 1) {
      const [left, right] = [publication(moduleOf('left', 1)), publication(moduleOf('right', 1))];
      const answers = await Promise.all([
        store.writeCatalog({ expectedSequence: sequence, ...left }),
        other.writeCatalog({ expectedSequence: sequence, ...right }),
      ]);
      expect(answers.map((answer) => answer.kind).sort()).toEqual(['conflict', 'written']);
      const winner = answers[0].kind === 'written' ? left : right;
      const current = await store.readCatalog();
      expect(current).toEqual({ sequence: current.sequence, ...winner });
      expect(current.sequence).toBeGreaterThan(sequence);
      sequence = current.sequence;
    }
  });

  it('withdrawModules leaves the rest of the catalog under a higher sequence, and changes nothing for another one', async () => {
    const [store, other] = await scene.openPair();
    const [files, web] = [moduleOf('files', 3), moduleOf('web', 2)];
    const published = publication(files, web);
    const { sequence } = await store.writeCatalog({ expectedSequence: 0, ...published });
    const request = { ...publication(web), withdrawn: [files] };
    for (const expectedSequence of [0, sequence + 1]) {
      expect(await store.withdrawModules({ expectedSequence, ...request })).toEqual({ kind: 'conflict', sequence });
    }
    expect(await other.readCatalog()).toEqual({ sequence, ...published });
    const watching = other.watchCatalog({ after: sequence, waitMs: 50_000 });
    const answer = await store.withdrawModules({ expectedSequence: sequence, ...request });
    expect(answer).toMatchObject({ kind: 'written' });
    expect(await watching).toEqual({ sequence: answer.sequence, ...publication(web) });
    expect(answer.sequence).toBeGreaterThan(sequence);
  });

  it('withdrawModules and writeCatalog at once let exactly one win', async () => {
    const [store, other] = await scene.openPair();
    const files = moduleOf('files', 1);
    const { sequence } = await store.writeCatalog({ expectedSequence: 0, ...publication(files) });
    const answers = await Promise.all([
      store.withdrawModules({ expectedSequence: sequence, ...publication(), withdrawn: [files] }),
      other.writeCatalog({ expectedSequence: sequence, ...publication(files, moduleOf('web', 1)) }),
    ]);
    expect(answers.map(({ kind }) => kind).sort()).toEqual(['conflict', 'written']);
  });

  it('watchCatalog is woken by a publication on another connection', async () => {
    const [store, other] = await scene.openPair();
    // The wait is longer than a test may take, so only the wake-up can answer the request.
    const watching = store.watchCatalog({ after: 0, waitMs: 600_000 });
    const published = publication(moduleOf('files', 2));
    const { sequence } = await other.writeCatalog({ expectedSequence: 0, ...published });
    expect(await watching).toEqual({ sequence, ...published });
  });

  it('watchCatalog answers at once when it is behind, and with nothing when nothing moved', async () => {
    const store = await scene.open();
    const published = publication(moduleOf('files', 1));
    const { sequence } = await store.writeCatalog({ expectedSequence: 0, ...published });
    expect(await store.watchCatalog({ after: 0, waitMs: 600_000 })).toEqual({ sequence, ...published });
    expect(await store.watchCatalog({ after: sequence, waitMs: 20 })).toBeUndefined();
  });
}
