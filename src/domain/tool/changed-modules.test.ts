import { describe, expect, it } from 'vitest';
import { makeCatalog } from '../../../test/support/sample-catalog.ts';
import type { Catalog } from './catalog.ts';
import { changedModules } from './changed-modules.ts';
import type { ModuleDeclaration } from './module.ts';

const BEFORE = makeCatalog({ notes: ['add', 'list'], clock: ['now'], dice: ['roll'] });
const copy = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value;

function changing(id: string, change: (module: ModuleDeclaration) => ModuleDeclaration): Catalog {
  return {
    ...copy(BEFORE),
    modules: copy(BEFORE).modules.map((module) => (module.id === id ? change(module) : module)),
  };
}

describe('changedModules', () => {
  it('names none of the same content, read again or in another order', () => {
    expect(changedModules(BEFORE, copy(BEFORE))).toEqual([]);
    expect(changedModules(BEFORE, { ...BEFORE, modules: BEFORE.modules.toReversed() })).toEqual([]);
  });

  it('names what came, what went and what has other tools', () => {
    const after = makeCatalog({ notes: ['add', 'list', 'remove'], clock: ['now'], shell: ['run'] });
    expect(changedModules(BEFORE, after).toSorted()).toEqual(['dice', 'notes', 'shell']);
  });

  it('names what changed without its digest: a description, a limit', () => {
    const described = changing('clock', (module) => ({ ...module, description: 'Another.' }));
    expect(changedModules(BEFORE, described)).toEqual(['clock']);
    const limited = changing('notes', ({ tools: [add, list], ...module }) => ({
      ...module,
      tools: [add!, { ...list!, limits: { ...list!.limits, timeoutMs: 1 } }],
    }));
    expect(changedModules(BEFORE, limited)).toEqual(['notes']);
  });

  it('names a module that stands twice in one of them', () => {
    const twice = { ...BEFORE, modules: [...BEFORE.modules, BEFORE.modules[0]!] };
    expect(changedModules(BEFORE, twice)).toEqual(['notes']);
  });
});
