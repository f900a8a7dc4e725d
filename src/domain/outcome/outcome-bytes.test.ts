import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Outcome } from './outcome.ts';
import { encode } from '../../base/message-pack.ts';
import { decodeOutcome, encodeOutcome } from './outcome-bytes.ts';

const OK = { kind: 'ok', executed: 'yes', retryable: false, content: [] } as const satisfies Outcome;

const OUTCOMES: readonly (readonly [string, Outcome])[] = [
  ['a value', { ...OK, structured: { id: 1, text: 'é 😀 "quoted"', list: [null, true, -1.5, 2 ** 60] } }],
  ['a value that is null', { ...OK, structured: null }],
  ['one text', { ...OK, content: [{ kind: 'text', text: 'plain' }] }],
  ['an empty text', { ...OK, content: [{ kind: 'text', text: '' }] }],
  ['a text that looks like JSON', { ...OK, content: [{ kind: 'text', text: '{"kind":"denied"}' }] }],
  ['nothing', OK],
  ['a text and a value', { ...OK, content: [{ kind: 'text', text: 'a' }], structured: { b: 1 } }],
  ['two texts', { ...OK, content: ['a', 'b'].map((text) => ({ kind: 'text', text }) as const) }],
  ['bytes', { ...OK, content: [{ kind: 'image', mediaType: 'image/png', bytes: Buffer.from([0, 255, 0xc1]) }] }],
  ['write-backs', { ...OK, structured: 1, writeBacks: { files: [], messages: [], injectedTools: [], cost: 2 } }],
  ['another kind', { ...OK, kind: 'failed', structured: 1, error: { code: 'TOOL_FAILED', message: 'no' } }],
  ['one that may have run', { ...OK, executed: 'unknown', structured: 1 }],
  ['one that can be tried again', { ...OK, retryable: true, structured: 1 }],
];

describe('an outcome', () => {
  it.each(OUTCOMES)('with %s is read as it was written', (_what, outcome) => {
    expect(decodeOutcome(encodeOutcome(outcome))).toEqual(outcome);
  });

  it('keeps the advice beside a value and beside a text', () => {
    const advice = 'Do something else.';
    for (const outcome of [
      { ...OK, structured: 1, advice },
      { ...OK, content: [{ kind: 'text', text: 'a' } as const], advice },
    ])
      expect(decodeOutcome(encodeOutcome(outcome))).toEqual(outcome);
  });

  it('with any value or text is read as it was written', () => {
    const any = fc.oneof(
      fc
        .jsonValue({ noUnicodeString: false })
        .map((structured) => ({ ...OK, structured: JSON.parse(JSON.stringify(structured)) })),
      fc.string({ unit: 'grapheme' }).map((text) => ({ ...OK, content: [{ kind: 'text' as const, text }] })),
    );
    fc.assert(
      fc.property(any, (outcome) => {
        expect(decodeOutcome(encodeOutcome(outcome))).toEqual(outcome);
      }),
    );
  });

  it('that was written before there was a short form is read', () => {
    const outcome: Outcome = { ...OK, structured: { a: [1] } };
    expect(decodeOutcome(encode(outcome))).toEqual(outcome);
  });

  it.each([
    ['nothing', []],
    ['an unknown form', [0xc1, 9, 0x31]],
    ['a value that is no JSON', [0xc1, 1, 0x7b]],
    ['half of a short form', [0xc1]],
    ['no outcome', [...encode({ kind: 'fine' })]],
  ])('of %s is refused', (_what, bytes) => {
    expect(() => decodeOutcome(Uint8Array.from(bytes))).toThrow('cannot be read');
  });
});
