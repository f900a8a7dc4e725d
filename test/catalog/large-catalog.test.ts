import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadModules } from '../../src/modules/catalog/load-modules.ts';
import type { LoadResult } from '../../src/modules/catalog/loaded-module.ts';
import { createToolIndex } from '../../src/modules/catalog/tool-index.ts';
import { createModuleFolder, type ModuleFolder } from '../fixtures/catalog/module-folder.ts';
import { largeModuleText } from '../fixtures/catalog/large-module.ts';

const MODULES = 100;
const TOOLS = 100;

describe('a catalog of 10,000 tools in 100 modules', () => {
  let folder: ModuleFolder;
  let result: LoadResult;
  beforeAll(async () => {
    folder = createModuleFolder();
    for (let index = 0; index < MODULES; index += 1) {
      folder.write(`large-${index}.js`, largeModuleText({ id: `large-${index + 200}`, tools: TOOLS }));
    }
    result = await loadModules(folder.path);
  });
  afterAll(() => folder.dispose());

  it('loads completely', () => {
    expect(result.broken).toStrictEqual([]);
    expect(result.modules.flatMap((module) => module.declaration.tools)).toHaveLength(MODULES * TOOLS);
  });

  it('is indexed with a digest of its own for each tool, and finds, checks and suggests', () => {
    const index = createToolIndex(result.modules);
    expect(new Set(index.toolDigests).size).toBe(MODULES * TOOLS);
    const tool = index.find('large-242.tool-42')!;
    expect(tool.validateInput({ text: 'x', limit: 1, tags: [] })).toStrictEqual([]);
    expect(tool.validateInput({ text: 1 })).toContain('text: must be string');
    expect(index.near('large-242.tol-42')).toContain('large-242.tool-42');
  });
});
