import { afterAll, describe, expect, test } from 'vitest';
import { describeModule } from '../../src/modules/authoring/describe-module.ts';
import { importModule } from '../../src/modules/authoring/import-module.ts';
import type { RunnerName } from '../../src/domain/tool/tool.ts';
import { InlineRunner } from '../../src/worker/runners/inline/inline-runner.ts';
import { ProcessRunner } from '../../src/worker/runners/process/process-runner.ts';
import { runAndJudge, type ExecutableCall } from '../../src/stages/execute/run-and-judge.ts';
import { runRequest, type RequestChange } from './run-request.ts';

const processes = new ProcessRunner({ abortGraceMs: 100 });
const runners = { inline: new InlineRunner(), process: processes, 'process-per-call': processes.perCall() };
afterAll(() => processes.close());

describe.each(['inline', 'process', 'process-per-call'] as const)(
  'execute with the %s runner',
  (runner: RunnerName) => {
    const call = (id: string, change: RequestChange = {}, more: Partial<ExecutableCall> = {}) => {
      const { request, seen } = runRequest(id, change);
      return { outcome: runAndJudge({ ...request, runner, denials: [], ...more }, { runners }), seen };
    };

    test('answers ok with text, blocks and structured values', async () => {
      expect(await call('friendly.greet', { args: { name: 'Ann' } }).outcome).toEqual({
        kind: 'ok',
        executed: 'yes',
        retryable: false,
        content: [{ kind: 'text', text: 'Hello, Ann!' }],
      });
      expect(await call('friendly.blocks').outcome).toMatchObject({
        kind: 'ok',
        content: [{ kind: 'text' }, { kind: 'image' }, { kind: 'file' }],
      });
      expect(await call('friendly.facts').outcome).toMatchObject({ kind: 'ok', structured: { fence: 7 } });
    });

    test('answers failed, denied and exception, the cause of which is only logged', async () => {
      expect(await call('friendly.fails').outcome).toMatchObject({
        kind: 'failed',
        executed: 'yes',
        error: { facts: { code: 'NOTE_GONE' } },
      });
      expect(await call('friendly.refuses').outcome).toMatchObject({
        kind: 'denied',
        executed: 'yes',
        error: { message: 'Not your note.' },
      });
      const { outcome, seen } = call('hostile.throws', { args: { what: 'frozen' } });
      expect(JSON.stringify(await outcome)).not.toContain('hostile.mjs');
      expect(await outcome).toMatchObject({ kind: 'exception', executed: 'yes', error: { code: 'TOOL_THREW' } });
      expect(seen.log).toEqual([
        {
          level: 'error',
          message: 'The tool threw RangeError.',
          data: { cause: expect.stringContaining('hostile.mjs') },
        },
      ]);
    });

    test('answers invalid, not executed, for arguments that only the tool itself can judge', async () => {
      expect(await call('friendly.greet', { args: { name: 5 } }).outcome).toMatchObject({
        kind: 'invalid',
        executed: 'no',
        error: { code: 'ARGUMENTS_INVALID' },
      });
    });

    test('answers timed-out and cancelled with executed unknown', async () => {
      expect(await call('friendly.obeys', { timeoutMs: 4000 }).outcome).toMatchObject({
        kind: 'timed-out',
        executed: 'unknown',
      });
      const stop = new AbortController();
      const { outcome } = call('friendly.obeys', { signal: stop.signal, onLog: () => stop.abort() });
      expect(await outcome).toMatchObject({ kind: 'cancelled', executed: 'unknown' });
    });

    test('checks the output and the denials of the tool', async () => {
      expect(await call('friendly.facts', {}, { validateOutput: () => ['/x is missing'] }).outcome).toMatchObject({
        kind: 'failed',
        error: { code: 'RESULT_INVALID' },
      });
      expect(await call('friendly.greet', { args: { name: 'you' } }, { denials: ['^Hello'] }).outcome).toMatchObject({
        kind: 'denied',
        executed: 'yes',
      });
    });
  },
);

test('a module file written with the package can be described', async () => {
  const { request } = runRequest('friendly.greet');
  const described = describeModule(await importModule(request.source));
  expect(described).toMatchObject({ id: 'friendly', runner: 'process', setupSchema: { type: 'object' } });
  expect(described.tools.map(({ id }) => id)).toContain('friendly.greet');
});
