import { describe, expect, it } from 'vitest';
import { servingOf, unservedTools, type ServingWorker } from './serving.ts';

const published = (id: string, ...tools: readonly ('pinned' | 'here')[]) => ({
  id,
  digest: `${id}-2`,
  pool: 'default',
  tools: tools.map((place, index) => ({ id: `${id}.${index}`, ...(place === 'pinned' ? { pinned: 'caller' } : {}) })),
});
const module = (id: string, ...tools: readonly ('pinned' | 'here')[]) => published(id, ...tools) as never;
const worker = (changes: Partial<ServingWorker> = {}): ServingWorker => ({
  pool: 'default',
  state: 'serving',
  modules: [{ id: 'clock', digest: 'clock-2' }],
  broken: [],
  ...changes,
});
const older = { modules: [{ id: 'clock', digest: 'clock-1' }] };

describe('servingOf', () => {
  it.each([
    ['served', 2, [worker(), worker(older)]],
    ['other-version', 1, [worker(older)]],
    ['unserved', 0, []],
    ['unserved', 0, [worker({ modules: [{ id: 'notes', digest: 'clock-2' }] })]],
    // The only worker is in a different pool, for example the private pool of a caller, so it gets none of the module's calls.
    ['unserved', 0, [worker({ pool: 'elsewhere' })]],
    ['unserved', 0, [worker({ state: 'draining' })]],
  ] as const)('says %s, by %i workers', (state, liveWorkers, workers) => {
    expect(servingOf(module('clock', 'here', 'pinned'), workers)).toStrictEqual({ state, liveWorkers });
  });

  it('expects no worker of the fleet for a module whose tools all run with their callers', () => {
    expect(servingOf(module('mine', 'pinned'), [])).toStrictEqual({ state: 'pinned', liveWorkers: 0 });
  });
});

describe('unservedTools', () => {
  it('names the tools of modules without a live worker, except pinned ones', () => {
    const modules = [module('clock', 'here'), module('notes', 'here', 'pinned', 'here'), module('mine', 'pinned')];
    expect(unservedTools(modules, [worker()])).toStrictEqual(['notes.0', 'notes.2']);
  });
});
