import { describe, expect, test } from 'vitest';
import { NO_WRITE_BACKS, type WriteBacks } from '../../domain/outcome/content.ts';
import { toolId } from '../../domain/identity/ids.ts';
import type { JsonValue } from '../../base/json.ts';
import type { RunEnding } from '../../domain/ports/tool-runner.ts';
import { endingToOutcome, type EndedCall } from './ending-to-outcome.ts';

const inputSchema = { type: 'object', properties: { text: {}, limit: {} } };
const call: EndedCall = { tool: toolId('notes', 'search'), inputSchema, timeoutMs: 1500, denials: [] };
const returned = (value: JsonValue, writeBacks: WriteBacks = NO_WRITE_BACKS): RunEnding => ({
  kind: 'returned',
  result: { value },
  writeBacks,
});
const files: WriteBacks = {
  ...NO_WRITE_BACKS,
  files: [{ name: 'a.txt', mediaType: 'text/plain', bytes: new Uint8Array([1]) }],
};

describe('endingToOutcome', () => {
  const changed = (...changes: string[]): RunEnding => ({ kind: 'changed-arguments', changes });

  test('takes arguments that the schema does not declare for wrong arguments, and names what was probably meant', () => {
    expect(endingToOutcome(changed('texd: removed', 'colour: removed'), call)).toMatchObject({
      kind: 'invalid',
      executed: 'no',
      error: {
        code: 'ARGUMENTS_INVALID',
        message:
          'Wrong arguments for notes.search: it has no argument texd (did you mean text?); it has no argument colour.',
      },
    });
  });

  test.each([
    ['a declared argument is taken away', changed('text: removed', 'texd: removed')],
    ['something inside an argument is taken away', changed('text.inner: removed')],
    ['an argument is changed', changed('texd: removed', 'text: changed')],
    ['an argument is added', changed('texd: added')],
  ])('says that the schema transforms when %s', (_, ending) => {
    expect(endingToOutcome(ending, call)).toMatchObject({ kind: 'invalid', error: { code: 'ARGUMENTS_TRANSFORMED' } });
  });

  const endings: readonly (readonly [RunEnding, string, string, string])[] = [
    [
      { kind: 'refused', how: 'failed', message: 'no such note', writeBacks: NO_WRITE_BACKS },
      'failed',
      'TOOL_FAILED',
      'yes',
    ],
    [
      { kind: 'refused', how: 'denied', message: 'not yours', writeBacks: NO_WRITE_BACKS },
      'denied',
      'TOOL_DENIED',
      'yes',
    ],
    [{ kind: 'threw', isStarted: true, type: 'TypeError', cause: 'secret stack' }, 'exception', 'TOOL_THREW', 'yes'],
    [{ kind: 'threw', isStarted: false, type: 'Error', cause: 'secret stack' }, 'exception', 'TOOL_THREW', 'no'],
    [{ kind: 'timed-out' }, 'timed-out', 'TOOL_TIMED_OUT', 'unknown'],
    [{ kind: 'aborted' }, 'cancelled', 'CALL_CANCELLED', 'unknown'],
    [{ kind: 'crashed', how: 'exit code 0' }, 'crashed', 'TOOL_CRASHED', 'unknown'],
    [{ kind: 'unserialisable', problem: '$.x is a function' }, 'failed', 'RESULT_UNSERIALISABLE', 'yes'],
    [{ kind: 'too-large', bytes: 300, limit: 256 }, 'failed', 'RESULT_TOO_LARGE', 'yes'],
  ];
  test.each(endings)('turns %j into %s, %s, executed %s', (ending, kind, code, executed) => {
    const outcome = endingToOutcome(ending, call);
    expect(outcome).toMatchObject({ kind, executed, retryable: false, error: { code } });
    expect(outcome.content).toHaveLength(1);
    expect(JSON.stringify(outcome)).not.toContain('secret stack');
  });

  test("keeps the author's own code among the facts", () => {
    const ending: RunEnding = { kind: 'refused', how: 'failed', message: 'x', code: 'NOTE_GONE', writeBacks: files };
    expect(endingToOutcome(ending, call)).toMatchObject({
      error: { code: 'TOOL_FAILED', facts: { code: 'NOTE_GONE' } },
      writeBacks: files,
    });
  });

  test('shows text as content and other values as structured, without saying either twice', () => {
    expect(endingToOutcome(returned('hello'), call)).toEqual({
      kind: 'ok',
      executed: 'yes',
      retryable: false,
      content: [{ kind: 'text', text: 'hello' }],
    });
    expect(endingToOutcome(returned({ n: 1 }), call)).toMatchObject({ kind: 'ok', content: [], structured: { n: 1 } });
    expect(endingToOutcome({ kind: 'returned', result: {}, writeBacks: NO_WRITE_BACKS }, call)).toMatchObject({
      kind: 'ok',
      content: [],
    });
  });

  test('keeps a reported failure readable and whole, with its files', () => {
    const outcome = endingToOutcome(returned({ success: false, error: 'disk full', at: 7 }, files), call);
    expect(outcome).toMatchObject({
      kind: 'failed',
      executed: 'yes',
      content: [{ kind: 'text', text: 'disk full' }],
      structured: { success: false, error: 'disk full', at: 7 },
      writeBacks: files,
      error: { code: 'TOOL_FAILED', message: 'disk full' },
    });
  });

  test('checks the output schema, but not of a result that reports failure', () => {
    const strict = { ...call, validateOutput: () => ['/n must be a number'] };
    expect(endingToOutcome(returned({ n: 'x' }), strict)).toMatchObject({
      kind: 'failed',
      executed: 'yes',
      error: { code: 'RESULT_INVALID', facts: { problems: ['/n must be a number'] } },
    });
    expect(endingToOutcome(returned({ ok: false }), strict)).toMatchObject({ error: { code: 'TOOL_FAILED' } });
    const nothing: RunEnding = { kind: 'returned', result: {}, writeBacks: NO_WRITE_BACKS };
    expect(endingToOutcome(nothing, { ...call, validateOutput: () => [] })).toMatchObject({
      error: { code: 'RESULT_INVALID' },
    });
    expect(endingToOutcome(returned('text'), { ...call, validateOutput: () => [] })).toMatchObject({
      structured: 'text',
    });
  });
});
