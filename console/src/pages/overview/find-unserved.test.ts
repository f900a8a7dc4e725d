import { expect, test } from 'vitest';
import type { Worker } from '../fleet/fleet-types.ts';
import { findUnserved } from './find-unserved.ts';

test('a module is unserved unless a worker that takes calls has it', () => {
  const worker = (state: string, ...ids: string[]): Worker =>
    ({ state, modules: ids.map((id) => ({ id, digest: 'd' })) }) as unknown as Worker;
  const modules = [{ id: 'notes' }, { id: 'clock' }, { id: 'mail' }];
  expect(findUnserved(modules, [worker('serving', 'notes'), worker('draining', 'clock')])).toEqual(['clock', 'mail']);
});
