import { expect, test } from 'vitest';
import { findWorkerProblems } from './find-worker-problems.ts';
import type { Worker } from './fleet-types.ts';

const worker = { crashes: 0, broken: [], modules: [] } as unknown as Worker;

test('a healthy worker has no troubles', () => {
  expect(findWorkerProblems({ ...worker, services: [{ service: 'db', state: 'ok' }] })).toEqual([]);
});

test('the worst problem of a worker comes first', () => {
  const problems = findWorkerProblems({
    ...worker,
    crashes: 2,
    services: [
      { service: 'chat', state: 'degraded', detail: 'slow' },
      { service: 'db', state: 'failed' },
    ],
    broken: [{ id: 'mail', file: 'mail.ts', reason: 'no such file' }],
  });
  expect(problems.map(({ tone, text }) => `${tone}: ${text}`)).toEqual([
    'bad: module mail is broken: no such file',
    'bad: service db is failed',
    'warning: service chat is degraded: slow',
    'warning: 2 runs of tools crashed',
  ]);
});
