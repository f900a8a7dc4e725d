import { expect, test } from 'vitest';
import { importModule } from '../../src/modules/authoring/import-module.ts';
import { InlineRunner } from '../../src/worker/runners/inline/inline-runner.ts';
import { eventually } from '../support/process.ts';
import { runRequest } from './run-request.ts';

test('InlineRunner runs a tool in this process with setup and arguments', async () => {
  const runner = new InlineRunner();
  const { request } = runRequest('friendly.facts', { args: { a: 1 } });
  expect(await runner.run(request)).toMatchObject({
    kind: 'returned',
    result: { value: { args: { a: 1 }, fence: 7, pid: process.pid } },
  });
});

test('InlineRunner carries files, messages and offers', async () => {
  const { request } = runRequest('friendly.sends', { args: { bytes: 1000 } });
  expect(await new InlineRunner().run(request)).toMatchObject({
    kind: 'returned',
    writeBacks: { files: [{ name: 'random.bin' }], messages: [{}], injectedTools: [{}] },
  });
});

test('InlineRunner answers timed-out for a tool that ignores its signal, and counts what comes later', async () => {
  const late: unknown[] = [];
  const runner = new InlineRunner({ onLateEnding: (ending) => late.push(ending) });
  const { request, seen } = runRequest('stubborn.late', { timeoutMs: 50 });
  // The module is imported in advance, so that the tool is entered long before the timeout.
  await importModule(request.source);
  expect(await runner.run(request)).toEqual({ kind: 'timed-out' });
  expect(runner.running).toBe(1);
  await eventually(() => runner.lateEndings === 1, { what: 'the late ending' });
  expect(late).toEqual([{ callId: request.callId, kind: 'returned' }]);
  expect(runner.running).toBe(0);
  expect(seen.log.map(({ message }) => message)).toEqual(['in time']);
});

test('InlineRunner answers aborted after its grace when the tool does not obey', async () => {
  const runner = new InlineRunner({ abortGraceMs: 20 });
  const stop = new AbortController();
  const { request } = runRequest('hostile.neverEnds', { signal: stop.signal, onLog: () => stop.abort() });
  expect(await runner.run(request)).toEqual({ kind: 'aborted' });
});

test('InlineRunner answers aborted when the tool obeys, and with the result when it finishes', async () => {
  const runner = new InlineRunner({ abortGraceMs: 10_000 });
  const abortOnLog = (tool: string): ReturnType<typeof runRequest> => {
    const stop = new AbortController();
    return runRequest(tool, { signal: stop.signal, onLog: () => stop.abort() });
  };
  expect(await runner.run(abortOnLog('friendly.obeys').request)).toEqual({ kind: 'aborted' });
  expect(await runner.run(abortOnLog('friendly.finishes').request)).toMatchObject({ kind: 'returned' });
  expect(runner.lateEndings).toBe(0);
});

test('InlineRunner does not enter a tool whose call was aborted before', async () => {
  const { request, seen } = runRequest('friendly.speaks', { signal: AbortSignal.abort() });
  expect(await new InlineRunner().run(request)).toEqual({ kind: 'aborted' });
  expect(seen.log).toEqual([]);
});

test('InlineRunner answers for a module that cannot be loaded', async () => {
  const runner = new InlineRunner();
  expect(await runner.run(runRequest('missing.tool').request)).toMatchObject({ kind: 'threw', isStarted: false });
  expect(await runner.run(runRequest('never-loads.tool', { timeoutMs: 50 }).request)).toEqual({ kind: 'timed-out' });
});

test('InlineRunner does not enter a tool whose time was used up by loading its module', async () => {
  const runner = new InlineRunner();
  const { request } = runRequest('slow-to-load.traces', { timeoutMs: 20 });
  expect(await runner.run(request)).toEqual({ kind: 'timed-out' });
  await eventually(() => runner.lateEndings === 1, { what: 'the end of the loading' });
  expect(Reflect.get(globalThis, 'slowToLoadEntered')).toBeUndefined();
});
