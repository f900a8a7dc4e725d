import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../base/json.ts';
import { judgeResult } from './judge-result.ts';

const judge = (value: JsonValue, denials: string[] = []): string => judgeResult({ value }, denials).kind;

/** Results as tools typically return them, then more cases of the rules that are listed at `judgeResult`. */
const ROWS: readonly (readonly [JsonValue, 'ok' | 'failed' | 'denied'])[] = [
  ["Error: unknown tool 'x'", 'failed'],
  [{ error: 'connection timed out' }, 'failed'],
  ['{"error":"HTTP 500"}', 'failed'],
  [{ success: 0, detail: 'x' }, 'failed'],
  [{ success: 'false', detail: 'x' }, 'failed'],
  [{ result: { success: false, error: 'alice does not have the delete_notes privilege' } }, 'denied'],
  [{ ok: false, reason: 'permission denied' }, 'denied'],
  [{ status: 'forbidden' }, 'denied'],
  [{ task_id: '7', status: 'running' }, 'ok'],
  ["How to fix 'Permission denied (publickey)' when you push", 'ok'],
  ['[{"title":"401 Unauthorized explained"}]', 'ok'],
  [{ message: 'Mail subject: unauthorised login attempt' }, 'ok'],
  [{ success: false, error: 'upstream returned 401 Unauthorized' }, 'failed'],

  [{ success: false }, 'failed'],
  [{ ok: 'False' }, 'failed'],
  [{ success: true, error: 'the record says so' }, 'ok'],
  [{ success: true, ok: false }, 'failed'],
  [{ data: [1], error: null }, 'ok'],
  [{ data: [1], error: '' }, 'ok'],
  [{ error: {} }, 'ok'],
  [{ error: { code: 'PERMISSION_DENIED', message: 'no' } }, 'denied'],
  [{ error: { message: 'disk full' } }, 'failed'],
  [{ error: true }, 'failed'],
  [{ status: 'failed' }, 'failed'],
  [{ status: 'Permission_Denied' }, 'denied'],
  [{ status: 'unauthorized' }, 'failed'],
  [{ status: 404, body: 'x' }, 'ok'],
  [{ status: 'ok' }, 'ok'],
  [{ success: true, status: 'failed' }, 'ok'],
  [{ success: false, status: 'denied' }, 'denied'],
  [{ success: false, error: 'upstream answered 403: permission denied' }, 'failed'],
  [{ success: false, message: 'permission denied' }, 'failed'],
  [{ success: false, error: 'bob is not allowed to read this' }, 'denied'],
  [{ result: '{"success":false,"error":"x"}' }, 'failed'],
  [{ ok: true, data: { status: 'failed', build: 7 } }, 'ok'],
  [{ ok: true, data: { error: 'of the build' } }, 'ok'],
  [{ ok: true, result: { success: false } }, 'failed'],
  [{ result: { result: { success: false } } }, 'ok'],
  [{ notes: { success: false } }, 'ok'],
  [' {"ok":false}', 'failed'],
  ['{"ok":false', 'ok'],
  ['An Error: in the middle', 'ok'],
  ['error: lower case', 'ok'],
  [[{ success: false }], 'ok'],
  [{ isError: true, content: [{ type: 'text', text: 'no such file' }] }, 'failed'],
  [{ is_error: true }, 'failed'],
  [{ isError: 'true' }, 'failed'],
  [{ isError: false, content: [] }, 'ok'],
  [{ success: true, isError: true }, 'failed'],
  [{ isError: true, error: { code: 'PERMISSION_DENIED' } }, 'denied'],
  [{ exitCode: 1, stdout: '' }, 'failed'],
  [{ exit_code: 127 }, 'failed'],
  [{ exit_code: '2' }, 'failed'],
  [{ exitCode: -9 }, 'failed'],
  [{ exitCode: 0 }, 'ok'],
  [{ exit_code: '0' }, 'ok'],
  [{ exitCode: null }, 'ok'],
  [{ exitCode: 'A17' }, 'ok'],
  [{ exitCode: 1.5 }, 'ok'],
  [{ success: true, exitCode: 1 }, 'ok'],
  [{ details: { exitCode: 1 } }, 'failed'],
  [{ content: [], details: { is_error: true } }, 'failed'],
  [{ structuredContent: { exit_code: 3 }, content: [] }, 'failed'],
  [{ structuredContent: { isError: true } }, 'failed'],
  [{ ok: true, details: { exitCode: 1 } }, 'ok'],
  [{ ok: true, details: { isError: true } }, 'failed'],
  [{ notes: { exitCode: 1 } }, 'ok'],
  ['{"exitCode":1}', 'failed'],
  [null, 'ok'],
  [false, 'ok'],
  [0, 'ok'],
];

describe('judgeResult', () => {
  test.each(ROWS)('judges %j as %s', (value, kind) => {
    expect(judge(value)).toBe(kind);
  });

  test('takes a bare string for a denial only by a pattern of the tool', () => {
    expect(judge('You shall not pass, bob')).toBe('ok');
    expect(judge('You shall not pass, bob', ['(?i)^you SHALL not pass'])).toBe('denied');
    expect(judge({ text: 'You shall not pass' }, ['shall not pass'])).toBe('ok');
  });

  test('answers at once for a pattern that would make a backtracking engine hang', () => {
    expect(judge(`${'a'.repeat(8000)}!`, ['^(a+)+$'])).toBe('ok');
  });

  test('reads a single text block like a bare string and several blocks as content', () => {
    expect(judgeResult({ content: [{ kind: 'text', text: '{"ok":false}' }] }, []).kind).toBe('failed');
    const two = { kind: 'text', text: '{"ok":false}' } as const;
    expect(judgeResult({ content: [two, two] }, []).kind).toBe('ok');
    expect(judgeResult({}, []).kind).toBe('ok');
  });

  test("takes the message from the result's own words and cuts it", () => {
    expect(judgeResult({ value: { success: false, error: { message: 'disk full', code: 'ENOSPC' } } }, [])).toEqual({
      kind: 'failed',
      message: 'disk full',
    });
    expect(judgeResult({ value: { success: false, message: 'nothing found' } }, [])).toMatchObject({
      message: 'nothing found',
    });
    expect(judgeResult({ value: { success: false } }, [])).toMatchObject({ message: 'The tool reported a failure.' });
    const ended = judgeResult({ value: { details: { exitCode: 3 } } }, []);
    expect(ended).toEqual({ kind: 'failed', message: 'The program ended with exit code 3.' });
    const text = { type: 'text', text: 'no such file' };
    expect(judgeResult({ value: { isError: true, content: [{ type: 'image' }, text] } }, [])).toMatchObject({
      message: 'no such file',
    });
    const long = judgeResult({ value: { error: 'x'.repeat(10_000) } }, []);
    expect(long.kind === 'failed' && long.message.length).toBe(2001);
    const faces = judgeResult({ value: { error: `x${'\u{1f600}'.repeat(5_000)}` } }, []);
    expect(faces).toMatchObject({ message: `x${'\u{1f600}'.repeat(999)}…` });
  });
});
