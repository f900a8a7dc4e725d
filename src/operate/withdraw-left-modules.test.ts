import { describe, expect, it } from 'vitest';
import { findLeftModules } from './withdraw-left-modules.ts';

const published = (id: string, changes: { pool?: string; pinned?: 'caller' } = {}) => ({
  id,
  pool: changes.pool ?? 'default',
  tools: [{ id: `${id}.run` }, ...(changes.pinned === undefined ? [] : [{ id: `${id}.own`, pinned: changes.pinned }])],
});
const catalogOf = (...modules: ReturnType<typeof published>[]) => ({ sequence: 1, digest: '', modules }) as never;

function leftOf(
  modules: ReturnType<typeof published>[],
  { serves = [] as string[], broken = [] as string[], others = [] as { serves?: string[]; broken?: string[] }[] },
): string[] {
  const loaded = {
    modules: serves.map((id) => ({ declaration: { id } })),
    broken: broken.map((id) => ({ id, file: `${id}.mjs`, reason: 'it threw' })),
  };
  const own = { workerId: 'me', pool: 'default', loaded } as never;
  const workers = others.map((other) => ({
    modules: (other.serves ?? []).map((id) => ({ id, digest: id })),
    broken: (other.broken ?? []).map((id) => ({ id, file: '', reason: '' })),
  }));
  return findLeftModules(catalogOf(...modules), own, workers).map(({ id }) => id);
}

describe('findLeftModules', () => {
  const three = [published('clock'), published('dice'), published('notes')];

  it('finds what was published before and is served no more', () => {
    expect(leftOf(three, { serves: ['dice'] })).toStrictEqual(['clock', 'notes']);
  });

  it('keeps a module that is merely broken in this load', () => {
    expect(leftOf(three, { serves: ['dice'], broken: ['clock'] })).toStrictEqual(['notes']);
  });

  it('finds nothing while a broken module may be any of the published ones', () => {
    expect(leftOf(three, { serves: ['dice'], broken: ['the-clock-file'] })).toStrictEqual([]);
  });

  it('keeps what another live worker serves, or failed to load', () => {
    const others = [{ serves: ['clock'] }, { broken: ['notes'] }];
    expect(leftOf(three, { serves: ['dice'], others })).toStrictEqual([]);
  });

  it('keeps modules of other pools, and those with tools that run with their callers', () => {
    const modules = [published('gpu', { pool: 'heavy' }), published('mine', { pinned: 'caller' }), published('clock')];
    expect(leftOf(modules, {})).toStrictEqual(['clock']);
  });
});
