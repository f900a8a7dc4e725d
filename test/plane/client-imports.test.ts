import { expect, it } from 'vitest';
import { walkDist } from '../support/walk-dist.ts';

/** Where tool code is loaded, described or run. */
const TOOL_CODE = ['runners', 'worker', 'catalog', 'authoring'];

it('the client export reaches no code that loads, describes or runs tools', () => {
  const reached = [...walkDist('exports/client.js').sources];
  expect(reached).toContain('client/client.ts');
  expect(reached).toContain('stores/embedded/store-thread.ts');
  expect(reached.filter((file) => TOOL_CODE.includes(file.split('/')[0]!))).toStrictEqual([]);
});

it('the worker export reaches all of it, so the walk can see it', () => {
  const folders = new Set([...walkDist('exports/worker.js').sources].map((file) => file.split('/')[0]!));
  expect(TOOL_CODE.filter((folder) => !folders.has(folder))).toStrictEqual([]);
});
