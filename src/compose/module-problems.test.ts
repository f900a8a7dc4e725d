import { describe, expect, it } from 'vitest';
import type { LoadedModule, LoadResult } from '../modules/catalog/loaded-module.ts';
import { findModuleProblems } from './module-problems.ts';

const loaded = (id: string): LoadedModule => ({ declaration: { id } }) as LoadedModule;
const broken = (id: string) => ({ id, file: `/m/${id}.mjs`, reason: 'cannot reach redis://ann:secret@10.0.0.1' });
const published = (...ids: string[]) => ids.map((id) => ({ id, pool: 'default' }));
const find = (modules: string[], failed: string[], before: string[]): string[] =>
  findModuleProblems(
    { modules: modules.map(loaded), broken: failed.map(broken) } satisfies LoadResult,
    'default',
    published(...before),
  );

describe('the problems of a worker with its modules', () => {
  it('are none when everything loads, or only a new module does not', () => {
    expect(find(['a', 'b'], [], ['a', 'b'])).toEqual([]);
    expect(find(['a'], ['new'], ['a'])).toEqual([]);
  });

  it('are none for a module that was removed', () => {
    expect(find(['a'], [], ['a', 'b'])).toEqual([]);
  });

  it('name a module that was published before and does not load', () => {
    expect(find(['a'], ['b'], ['a', 'b'])).toEqual(['the module b was served before and does not load']);
  });

  it('have no text of a module: they are shown without a login', () => {
    for (const problem of [...find(['a'], ['b'], ['a', 'b']), ...find([], ['a'], ['a'])])
      expect(problem).not.toContain('secret');
  });

  it('leave out a module that is served on in its old generation', () => {
    expect(find(['a', 'b'], ['b'], ['a', 'b'])).toEqual([]);
  });

  it('leave out a module of another pool', () => {
    const other = [{ id: 'b', pool: 'games' }];
    expect(findModuleProblems({ modules: [loaded('a')], broken: [broken('b')] }, 'default', other)).toEqual([]);
  });

  it('say that nothing was loaded, and why', () => {
    expect(find([], [], [])).toEqual(['no module was loaded for pool default: none was found']);
    expect(find([], ['a', 'b'], [])).toEqual(['no module was loaded for pool default: broken: a, b']);
    const tasks = { ...loaded('tasks'), builtIn: {} } as LoadedModule;
    expect(findModuleProblems({ modules: [tasks], broken: [] }, 'default', [])).toHaveLength(1);
  });
});
