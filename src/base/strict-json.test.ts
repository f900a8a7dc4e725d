import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { COMMON_BAD_INPUT } from '../../test/fixtures/bad-input/common.ts';
import { canonicalJson } from './canonical-json.ts';
import { JSON_LIMITS, parseStrictJson } from './strict-json.ts';

/**
 * Rows of the corpus that this parser accepts and only later checks reject: the parser knows no schema, and it takes any top-level value
 * and NUL characters in values.
 */
const LATER_LAYERS: readonly string[] = ['C11', 'C18', 'C19', 'C20'];

type Answer = { readonly value: unknown } | { readonly refused: string };

function strictly(input: string | Uint8Array): Answer {
  const parsed = parseStrictJson(input);
  return parsed.ok ? { value: parsed.value } : { refused: parsed.error.kind };
}

function leniently(text: string): Answer {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return { refused: 'syntax' };
  }
}

describe('parseStrictJson', () => {
  for (const row of COMMON_BAD_INPUT) {
    const { input } = row;
    if (input.kind === 'value') continue;
    const accepted = row.answer === 'ok' || row.answer === 'schema' || LATER_LAYERS.includes(row.id);
    it(`${accepted ? 'takes' : `answers ${row.answer} to`} ${row.id}: ${row.what}`, () => {
      const answer = strictly(input.kind === 'text' ? input.text : input.bytes);
      const taken = input.kind === 'text' ? leniently(input.text) : undefined;
      expect(answer).toStrictEqual(accepted ? taken : { refused: row.answer });
    });
  }

  for (const row of COMMON_BAD_INPUT) {
    if (row.canonical === undefined || row.input.kind !== 'text') continue;
    const { text } = row.input;
    it(`reads ${row.id} (${row.what}) as its canonical form says`, () => {
      const answer = strictly(text);
      expect('value' in answer && canonicalJson(answer.value)).toBe(row.canonical);
    });
  }

  it('agrees with JSON.parse on every JSON text it takes', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const answer = strictly(text);
        expect([leniently(text), { refused: 'shape' }, { refused: 'value' }, { refused: 'depth' }]).toContainEqual(
          answer,
        );
      }),
    );
  });

  it('refuses every text that JSON.parse refuses', () => {
    const parts = fc.constantFrom('{', '}', '[', ']', ',', ':', '"', '"a"', '1', '-', '.', 'e5', 'true', ' ', '\\');
    fc.assert(
      fc.property(fc.array(parts), (chosen) => {
        const text = chosen.join('');
        expect([leniently(text), { refused: 'shape' }, { refused: 'value' }]).toContainEqual(strictly(text));
      }),
      { numRuns: 2000 },
    );
  });

  it('counts bytes before it decodes them', () => {
    const bytes = new Uint8Array(JSON_LIMITS.bytes + 1).fill(0xff);
    expect(parseStrictJson(bytes)).toMatchObject({ ok: false, error: { kind: 'size' } });
  });

  it('takes tighter limits', () => {
    const limits = { bytes: 100, depth: 2, keys: 2, items: 2 };
    expect(parseStrictJson('{"a":[{}]}', limits)).toMatchObject({ error: { kind: 'depth' } });
    expect(parseStrictJson('{"a":1,"b":{"c":1}}', limits)).toMatchObject({ error: { kind: 'size' } });
    expect(parseStrictJson('[[1],[2]]', limits)).toMatchObject({ error: { kind: 'size' } });
    expect(parseStrictJson('[[1],2]', limits)).toMatchObject({ error: { kind: 'size' } });
    expect(parseStrictJson('[[],2]', limits)).toMatchObject({ ok: true });
  });

  it('reports the place and never the value', () => {
    const parsed = parseStrictJson('{"a":"secret","a":"secret"}');
    expect(parsed).toStrictEqual({
      ok: false,
      error: { kind: 'shape', problem: 'a key is there twice', position: 14 },
    });
  });
});
