import { randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fails, gives, says } from '../../../test/support/run-simulator.ts';
import type { ContentBlock } from '../../domain/outcome/content.ts';
import { errorOutcome } from '../../domain/errors/errors.ts';
import type { JsonValue } from '../../base/json.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { bodyDigest } from '../../domain/tool/digest.ts';
import { costOfCall, endOfAttempt } from './end-of-attempt.ts';
import { UNKNOWN_TOOL } from './failure-class.ts';
import { resultSignature } from './result-signature.ts';

const SHAPE = /^[\w-]{8}$/;
const of = (value: JsonValue, progress?: readonly string[]): string =>
  resultSignature(gives(value), progress === undefined ? {} : { progress });
const shown = (...content: ContentBlock[]): string =>
  resultSignature({ kind: 'ok', executed: 'yes', retryable: false, content }, {});

describe('the signature of a call', () => {
  const signature = (tool: string, args: JsonValue): string => bodyDigest(tool, canonicalJson(args)).slice(0, 8);

  test('is the same for the same tool and arguments, in any order of keys, and only then', () => {
    expect(signature('a.b', { x: 1, y: { p: 1, q: 2 } })).toBe(signature('a.b', { y: { q: 2, p: 1 }, x: 1 }));
    expect(signature('a.b', { x: 1 })).not.toBe(signature('a.b', { x: 2 }));
    expect(signature('a.b', { x: 1 })).not.toBe(signature('a.c', { x: 1 }));
  });

  test('has eight characters, also for 20,000 of arguments', () => {
    expect(signature('a.b', { text: 'x'.repeat(20_000) })).toMatch(SHAPE);
    for (const value of [{}, 'text', 5, null, [], true]) expect(signature('a.b', value)).toMatch(SHAPE);
  });
});

describe('resultSignature', () => {
  test('has eight characters, for any result', () => {
    for (const value of [null, true, 5, '', 'x'.repeat(40_000), [], {}, { a: [1, { b: null }] }]) {
      expect(of(value)).toMatch(SHAPE);
    }
    expect(resultSignature({ kind: 'ok', executed: 'yes', retryable: false, content: [] }, {})).toMatch(SHAPE);
  });

  test('does not depend on the order of keys', () => {
    expect(of({ a: 1, b: { c: 2, d: 3 } })).toBe(of({ b: { d: 3, c: 2 }, a: 1 }));
  });

  const different: readonly (readonly [string, JsonValue, JsonValue])[] = [
    ['another number', { done: 3 }, { done: 4 }],
    ['another text', { a: 'x' }, { a: 'y' }],
    ['another order in a list', [1, 2], [2, 1]],
    ['text for a number', { a: '5' }, { a: 5 }],
    ['null for nothing', { a: null }, {}],
    ['false for null', [false], [null]],
    ['a member elsewhere', { a: { b: 1 } }, { a: {}, b: 1 }],
    ['a number cut in two', [12, 3], [1, 23]],
    ['a conversation of the same form', { chat: 'C01', text: 'hi' }, { chat: 'C02', text: 'hi' }],
    ['an id of a read, which is short', { id: 17 }, { id: 18 }],
    ['a number of 16 digits', { card: 4_111_111_111_111_111 }, { card: 4_111_111_111_111_112 }],
    ['a member that only ends in pid', { rapid: 5 }, { rapid: 6 }],
    ['large counts', { bytes: 1_700_000_000 }, { bytes: 1_700_000_001 }],
  ];
  test.each(different)('differs for %s', (_what, one, other) => {
    expect(of(one)).not.toBe(of(other));
  });

  const same: readonly (readonly [string, JsonValue, JsonValue])[] = [
    ['ids', { id: randomUUID(), state: 'idle' }, { id: randomUUID(), state: 'idle' }],
    ['keys that are ids', { [randomUUID()]: 1 }, { [randomUUID()]: 1 }],
    ['times', { updatedAt: 1_763_200_000 }, { updatedAt: 1_763_200_009 }],
    ['times in milliseconds, however they are called', { x: 1_763_200_000_123 }, { x: 1_763_200_000_999 }],
    ['durations', { durationMs: 12, elapsed_seconds: 3.5 }, { durationMs: 9, elapsed_seconds: 4.5 }],
    ['process ids', { pid: 4711, ppid: '1' }, { pid: 81, ppid: '4711' }],
    ['ids of 17 digits and more', { order: 10_000_000_000_000_016 }, { order: 98_765_432_109_876_544 }],
    ['text with a time in it', ['at 10:00:00'], ['at 10:00:01']],
  ];
  test.each(same)('stays the same for other %s', (_what, one, other) => {
    expect(of(one)).toBe(of(other));
  });

  test('distinguishes text, images, audio, files and structured content by their bytes', () => {
    const bytes = randomBytes(100_000);
    const changed = Buffer.from(bytes);
    changed[99_999]! ^= 1;
    const image = (data: Uint8Array) => ({ kind: 'image', mediaType: 'image/png', bytes: data }) as const;
    expect(shown(image(bytes))).toBe(shown(image(Buffer.from(bytes))));
    expect(shown(image(bytes))).not.toBe(shown(image(changed)));
    expect(shown(image(bytes))).not.toBe(shown(image(bytes.subarray(1))));
    expect(shown(image(bytes))).not.toBe(shown({ ...image(bytes), kind: 'audio' }));
    expect(shown({ kind: 'text', text: 'a' }, { kind: 'text', text: 'b' })).not.toBe(
      shown({ kind: 'text', text: 'ab' }),
    );
    expect(shown({ kind: 'structured', value: 1 })).not.toBe(shown({ kind: 'text', text: '1' }));
  });

  test('looks at what was handed over beside the answer', () => {
    const sent = (text: string): Outcome => ({
      ...says('Here it is.'),
      writeBacks: {
        files: [{ name: 'a.md', mediaType: 'text/plain', bytes: Buffer.from(text) }],
        messages: [],
        injectedTools: [],
      },
    });
    expect(resultSignature(sent('a'), {})).toBe(resultSignature(sent('a'), {}));
    expect(resultSignature(sent('a'), {})).not.toBe(resultSignature(sent('b'), {}));
    expect(resultSignature(sent('a'), {})).not.toBe(resultSignature(says('Here it is.'), {}));
  });

  test('sees a change at the beginning, at the end and in the length of a long text', () => {
    const middle = 'word '.repeat(40_000);
    const long = (text: string): string => resultSignature(says(text), {});
    expect(long(`${middle}`)).toBe(long(`${middle}`));
    expect(new Set([long(middle), long(`x${middle}`), long(`${middle}x`), long(`${middle.slice(0, -1)}.`)]).size).toBe(
      4,
    );
  });

  test('does bounded work: of what is beyond the bound only the length counts', () => {
    const many = Array.from({ length: 200_000 }, (_, index) => index);
    const changed = many.with(150_000, -1);
    expect(of(many)).toBe(of(changed));
    expect(of(many)).not.toBe(of(many.slice(1)));
    const deep: JsonValue = JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`) as JsonValue;
    expect(of(deep)).toMatch(SHAPE);
  });

  test('never throws, and equal values have equal signatures', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        expect(of(value as JsonValue)).toBe(of(structuredClone(value) as JsonValue));
      }),
    );
  });
});

describe('a declared projection', () => {
  test('is all that counts, and counts as it is', () => {
    const first = { state: 'running', at: '2026-11-15T10:00:00Z', log: 'a' };
    expect(of(first, ['/state'])).toBe(of({ ...first, at: 'x', log: 'b' }, ['/state']));
    expect(of(first, ['/state'])).not.toBe(of({ ...first, state: 'done' }, ['/state']));
    expect(of(first, ['/at'])).not.toBe(of({ ...first, at: '2026-11-15T10:00:01Z' }, ['/at']));
  });

  test('makes a message that is sent twice the same, with any ids', () => {
    const sent = (id: number, text: string) => ({ message: { id, ts: `${id}.5`, text }, receipt: `r-${id}` });
    expect(of(sent(1, 'hi'), ['/message/text'])).toBe(of(sent(2, 'hi'), ['/message/text']));
    expect(of(sent(1, 'hi'), ['/message/text'])).not.toBe(of(sent(1, 'ho'), ['/message/text']));
    expect(of(sent(1, 'hi'))).not.toBe(of(sent(2, 'hi')));
  });

  test('that is empty says that nothing is progress', () => {
    expect(of({ id: 1 }, [])).toBe(of({ id: 2 }, []));
    expect(resultSignature(says('a'), { progress: [] })).toBe(resultSignature(says('b'), { progress: [] }));
  });

  test('reads lists, escapes and the whole value, and own members only', () => {
    expect(of({ 'a/b': [1, { '~': 2 }] }, ['/a~1b/1/~0'])).not.toBe(of({ 'a/b': [1, { '~': 3 }] }, ['/a~1b/1/~0']));
    expect(of({ a: 1 }, [''])).not.toBe(of({ a: 2 }, ['']));
    expect(of({ a: 1 }, ['/constructor'])).toBe(of({ a: 1 }));
    expect(of([5], ['/length'])).toBe(of([5]));
  });

  test('that names nothing in the result leaves the whole of it', () => {
    expect(of({ a: 1 }, ['/b'])).not.toBe(of({ a: 2 }, ['/b']));
    expect(resultSignature(says('a'), { progress: ['/b'] })).not.toBe(resultSignature(says('b'), { progress: ['/b'] }));
    expect(of({ a: 1, b: 1 }, ['/b', '/c'])).toBe(of({ a: 2, b: 1 }, ['/b', '/c']));
  });

  test.each(['a', '/~2', '/~'])('names nothing if it is %j, which is not a pointer', (pointer) => {
    const value = { a: 1, '~2': 2, '~': 3, at: 'x' };
    expect(of(value, [pointer])).toBe(of(value));
    expect(of(value, [pointer, '/a'])).toBe(of({ a: 1, at: 'y' }, [pointer, '/a']));
  });
});

describe('endOfAttempt', () => {
  const classOf = (outcome: Outcome) => endOfAttempt(outcome).result;

  const sameFailures: readonly (readonly [string, Outcome, Outcome])[] = [
    [
      'paths and numbers in the text',
      fails("FileNotFoundError: [Errno 2] No such file: 'a-1.txt'"),
      fails("FileNotFoundError: [Errno 2] No such file: 'b-2.txt'"),
    ],
    ['the same code', fails('There is no report "x".', 'NOT_FOUND'), fails('No such thing at all.', 'NOT_FOUND')],
    [
      'the last line of a traceback',
      fails('Traceback (most recent call last):\n  File "a.py", line 3\nKeyError: 17'),
      fails('Traceback (most recent call last):\n  File "b.py", line 99\nKeyError: 4'),
    ],
    [
      'the type of what was thrown',
      errorOutcome('TOOL_THREW', { tool: 'a.b', type: 'TypeError' }),
      errorOutcome('TOOL_THREW', { tool: 'a.b', type: 'TypeError' }),
    ],
    [
      'problems of arguments',
      errorOutcome('ARGUMENTS_INVALID', { tool: 'a.b', problems: ['x'] }),
      errorOutcome('ARGUMENTS_INVALID', { tool: 'a.b', problems: ['y'] }),
    ],
    [
      'a status',
      { ...fails('User ada is unknown.'), structured: { status: 404 } },
      { ...fails('User bob is unknown.'), structured: { status: 404 } },
    ],
    [
      'a code in the result',
      { ...fails('x'), structured: { error: { code: 'ENOENT', path: '/a' } } },
      { ...fails('y'), structured: { error: { code: 'ENOENT', path: '/b' } } },
    ],
    [
      'what a program printed',
      {
        ...fails('It failed.'),
        structured: { ok: false, exitCode: 1, stderr: 'cat: part-1: No such file or directory' },
      },
      {
        ...fails('It failed.'),
        structured: { ok: false, exitCode: 1, stderr: 'cat: part-2: No such file or directory' },
      },
    ],
  ];
  test.each(sameFailures)('knows the same failure by %s', (_what, one, other) => {
    expect(classOf(one)).toBe(classOf(other));
    expect(classOf(one)).toMatch(SHAPE);
  });

  const otherFailures: readonly (readonly [string, Outcome, Outcome])[] = [
    ['the code', fails('x', 'NOT_FOUND'), fails('x', 'NOT_ALLOWED')],
    ['the words', fails('No such file.'), fails('Permission denied.')],
    [
      'the type',
      errorOutcome('TOOL_THREW', { tool: 'a.b', type: 'TypeError' }),
      errorOutcome('TOOL_THREW', { tool: 'a.b', type: 'RangeError' }),
    ],
    [
      'what a program printed',
      { ...fails('It failed.'), structured: { exitCode: 1, stderr: 'No such file or directory' } },
      { ...fails('It failed.'), structured: { exitCode: 1, stderr: 'Connection refused' } },
    ],
    ['the kind', errorOutcome('TOOL_FAILED', { message: 'No.' }), errorOutcome('TOOL_DENIED', { message: 'No.' })],
  ];
  test.each(otherFailures)('distinguishes failures by %s', (_what, one, other) => {
    expect(classOf(one)).not.toBe(classOf(other));
  });

  test('says how an attempt ended, and nothing where nothing was learned', () => {
    expect(endOfAttempt(says('x')).ending).toBe('ok');
    expect(endOfAttempt(fails('x')).ending).toBe('failed');
    expect(endOfAttempt(errorOutcome('TOOL_TIMED_OUT', { tool: 'a.b', afterMs: 5 })).ending).toBe('failed');
    expect(endOfAttempt(errorOutcome('TOOL_DENIED', { message: 'x' })).ending).toBe('refused');
    expect(endOfAttempt(errorOutcome('HOOK_BLOCKED', { hook: 'guard.x', reason: 'A hook says no.' })).ending).toBe(
      'refused',
    );
    expect(endOfAttempt(errorOutcome('TOOL_UNKNOWN', { tool: 'a.b', near: [] }))).toStrictEqual({
      ending: 'refused',
      result: UNKNOWN_TOOL,
    });
    expect(endOfAttempt(errorOutcome('CALL_CANCELLED', {}))).toStrictEqual({ ending: 'refused' });
    expect(endOfAttempt(errorOutcome('TOOL_STALE', { tool: 'a.b', current: 'x' }))).toStrictEqual({
      ending: 'refused',
    });
  });
});

describe('costOfCall', () => {
  test('is what the call counted, else what the tool declares, and nothing if nothing ran', () => {
    const counted = { ...says('x'), writeBacks: { files: [], messages: [], injectedTools: [], cost: 0.000_002 } };
    expect(costOfCall(counted, { cost: 5 })).toBe(2);
    expect(costOfCall(says('x'), { cost: 0.25 })).toBe(250_000);
    expect(costOfCall(says('x'), {})).toBe(0);
    expect(costOfCall(errorOutcome('PAUSED', { tool: 'a.b', agent: 'x', paused: 'all' }), { cost: 5 })).toBe(0);
    expect(
      costOfCall(errorOutcome('TOOL_TIMED_OUT', { tool: 'a.b', afterMs: 5 }, { executed: 'unknown' }), { cost: 5 }),
    ).toBe(5_000_000);
  });
});
