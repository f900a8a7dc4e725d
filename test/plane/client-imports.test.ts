import { expect, it } from 'vitest';
import { walkDist } from '../support/walk-dist.ts';

/** Where tool code is loaded, described or run. */
const TOOL_CODE = ['worker/', 'worker/runners/', 'modules/catalog/', 'modules/authoring/'];

it('the client export reaches no code that loads, describes or runs tools', () => {
  const reached = [...walkDist('exports/client.js').sources];
  expect(reached).toContain('client/client.ts');
  expect(reached).toContain('stores/embedded/store-thread.ts');
  expect(reached.filter((file) => TOOL_CODE.some((folder) => file.startsWith(folder)))).toStrictEqual([]);
});

it('the worker export reaches all of it, so the walk can see it', () => {
  const reached = [...walkDist('exports/worker.js').sources];
  expect(TOOL_CODE.filter((folder) => !reached.some((file) => file.startsWith(folder)))).toStrictEqual([]);
});
