import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../domain/call/call.ts';
import type { RunId, SessionId } from '../../domain/identity/ids.ts';
import { callIdFor } from '../../domain/identity/new-id.ts';
import { decodeEnvelope } from '../../domain/call/envelope.ts';
import { envelopeHead } from '../../domain/call/envelope-text.ts';
import { SAMPLE_SESSION, samplePublished } from '../../../test/support/sample-call.ts';
import { prepareCall, type CallOrder } from './prepare-call.ts';

const ORDER: CallOrder = {
  session: SAMPLE_SESSION,
  run: 'run-1' as RunId,
  proof: { kind: 'token', tokenDigest: 'digest' },
  tool: samplePublished(),
  arguments: { b: 1, a: 'x' },
  key: 'k',
  depth: 0,
  admission: { liveCalls: 1, liveBytes: 1, retainedBytes: 1, subjectWindow: 1, subjectBacklog: 1 },
};

/** Takes values of any type, because a JavaScript caller may pass values that the type `CallOrder` does not allow. */
const prepare = (overrides: Record<string, unknown>) => prepareCall({ ...ORDER, ...overrides } as CallOrder);

function envelopeOf(prepared: ReturnType<typeof prepareCall>) {
  if (prepared.kind !== 'prepared') throw new Error(`refused: ${prepared.outcome.error?.code}`);
  const decoded = decodeEnvelope(prepared.request.envelope);
  if (decoded.kind !== 'envelope') throw new Error('the envelope cannot be read');
  return decoded.envelope;
}

describe('prepareCall', () => {
  it('makes canonical bytes and an id from subject and key', () => {
    const prepared = prepareCall(ORDER);
    expect(envelopeOf(prepared)).toMatchObject({ arguments: '{"a":"x","b":1}', key: 'k', depth: 0 });
    expect(prepared).toMatchObject({ request: { callId: callIdFor(SAMPLE_SESSION, 'k'), deadlineMs: 120_000 } });
  });

  it.each([
    ['plain arguments', {}],
    ['text that is longer in bytes', { arguments: { a: 'é☃', ключ: '\u{1f600}' } }],
    ['text that is escaped', { arguments: { a: '"\n\\\u0001\u007f' } }],
    ['a trace', { trace: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }],
    ['untrusted context', { untrusted: { room: 'é' } }],
    ['a parent', { parent: 'parent', depth: 3 }],
    ['no key', { key: undefined }],
  ])('says the same with a head that was kept: %s', (_what, overrides) => {
    const { id, digest } = ORDER.tool.tool;
    const head = envelopeHead(ORDER.session, ORDER.run, id, digest);
    expect(head).toBeTypeOf('string');
    const [kept, made] = [envelopeOf(prepare({ ...overrides, head })), envelopeOf(prepare(overrides))];
    expect({ ...kept, key: made.key }).toEqual(made);
  });

  it.each([5, {}, [], true, ''])('refuses %j as a key', (key) => {
    expect(prepare({ key })).toMatchObject({ kind: 'refused', outcome: { error: { code: 'KEY_INVALID' } } });
  });

  it.each([
    ['a number', 5],
    ['an object', { toString: () => 'x' }],
    ['null', null],
    ['text that is too long', 'x'.repeat(LIMITS.traceLength + 1)],
  ])('refuses a trace that is %s', (_what, trace) => {
    expect(prepare({ trace })).toMatchObject({
      kind: 'refused',
      outcome: { kind: 'invalid', executed: 'no', error: { code: 'ENVELOPE_INVALID' } },
    });
  });

  it('carries a trace of the longest length', () => {
    const trace = 'x'.repeat(LIMITS.traceLength);
    expect(envelopeOf(prepare({ trace })).trace).toBe(trace);
  });

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, LIMITS.maxDeadlineMs + 1])(
    'refuses a deadline of %d ms',
    (deadlineMs) => {
      expect(prepare({ deadlineMs })).toMatchObject({ outcome: { error: { code: 'DEADLINE_INVALID' } } });
    },
  );

  it.each(['', 'two words', 'ä', 'x'.repeat(LIMITS.keyLength + 1)])('refuses the key %j', (key) => {
    expect(prepare({ key })).toMatchObject({ outcome: { error: { code: 'KEY_INVALID' } } });
  });

  it('mints a key when none is given, another one each time', () => {
    const keys = [prepare({ key: undefined }), prepare({ key: undefined })].map((each) => envelopeOf(each).key);
    expect(new Set(keys).size).toBe(2);
  });

  it.each([
    ['arguments that are no object', { arguments: [1] }, 'ENVELOPE_INVALID'],
    ['arguments that are too large', { arguments: { text: 'x'.repeat(LIMITS.argumentsBytes) } }, 'ARGUMENTS_TOO_LARGE'],
    ['a call nested too deep', { depth: LIMITS.nestedDepth + 1 }, 'NESTED_TOO_DEEP'],
    [
      'untrusted context that is too large',
      { untrusted: { x: 'x'.repeat(LIMITS.untrustedBytes) } },
      'ARGUMENTS_TOO_LARGE',
    ],
    ['a session id that is none', { session: 'nobody' as SessionId }, 'SESSION_UNKNOWN'],
  ])('refuses %s', (_what, overrides, code) => {
    expect(prepare(overrides)).toMatchObject({ kind: 'refused', outcome: { executed: 'no', error: { code } } });
  });
});
