import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { COMMON_BAD_INPUT, type BadInputAnswer } from '../../../test/fixtures/bad-input/common.ts';
import { LIMITS } from './call.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { checkArguments } from './check-arguments.ts';
import { parseStrictJson } from '../../base/strict-json.ts';

const CODES: Partial<Record<BadInputAnswer, string>> = {
  shape: 'ENVELOPE_INVALID',
  value: 'ENVELOPE_INVALID',
  size: 'ARGUMENTS_TOO_LARGE',
  depth: 'ARGUMENTS_TOO_LARGE',
};

function refusal(value: unknown): unknown {
  const checked = checkArguments(value);
  return checked.ok ? undefined : { code: checked.code, ...checked.facts };
}

describe('checkArguments', () => {
  for (const row of COMMON_BAD_INPUT) {
    const { input } = row;
    if (input.kind !== 'value') continue;
    it(`answers ${CODES[row.answer]} to ${row.id}: ${row.what}`, () => {
      expect(refusal(input.make())).toMatchObject({ code: CODES[row.answer] });
    });
  }

  for (const row of COMMON_BAD_INPUT) {
    const { input } = row;
    if (input.kind !== 'text') continue;
    const parsed = parseStrictJson(input.text);
    if (!parsed.ok) continue;
    const accepted = row.answer === 'ok' || row.answer === 'schema';
    it(`${accepted ? 'takes' : 'refuses'} the parsed ${row.id}: ${row.what}`, () => {
      const canonical = row.canonical ?? canonicalJson(parsed.value);
      expect(checkArguments(parsed.value)).toMatchObject(accepted ? { ok: true, canonical } : { ok: false });
    });
  }

  it('writes what RFC 8785 says for any JSON object it takes, and takes its own output back', () => {
    const unit = fc.constantFrom('a', 'Z', '"', '\\', '\n', '\u007f', 'é', '€', '\u2028', '\ufb33', '😀', '1', '~');
    const text = fc.string({ unit, maxLength: 6 });
    const number = fc.oneof(fc.integer(), fc.double({ noNaN: true, min: -1e15, max: 1e15 }), fc.constant(-0));
    const leaf = fc.oneof(text, number, fc.boolean(), fc.constant(null));
    const { value: object } = fc.letrec((tie) => ({
      value: fc.dictionary(text, fc.oneof({ maxDepth: 3 }, leaf, tie('value'), fc.array(leaf)), { maxKeys: 5 }),
    }));
    fc.assert(
      fc.property(object, (value) => {
        const canonical = canonicalJson(value);
        const isAscii = Buffer.byteLength(canonical) === canonical.length;
        expect(checkArguments(value)).toStrictEqual({ ok: true, canonical, isAscii });
        expect(parseStrictJson(canonical)).toMatchObject({ ok: true });
      }),
    );
  });

  it('counts bytes of UTF-8: 1 MiB passes and one byte more is reported exactly', () => {
    const filled = (bytes: number): unknown => ({ t: 'a'.repeat(bytes - '{"t":"é"}'.length - 1) + 'é' });
    expect(checkArguments(filled(LIMITS.argumentsBytes))).toMatchObject({ ok: true });
    expect(refusal(filled(LIMITS.argumentsBytes + 1))).toStrictEqual({
      code: 'ARGUMENTS_TOO_LARGE',
      what: 'bytes',
      is: LIMITS.argumentsBytes + 1,
      limit: LIMITS.argumentsBytes,
    });
  });

  it('leaves out undefined members and writes the others', () => {
    expect(checkArguments({ b: undefined, a: { c: undefined } })).toStrictEqual({
      ok: true,
      canonical: '{"a":{}}',
      isAscii: true,
    });
  });

  it('takes objects without a prototype and those of another realm', () => {
    expect(checkArguments(Object.assign(Object.create(null) as object, { a: 1 }))).toMatchObject({ ok: true });
    expect(checkArguments(runInNewContext('({ a: [{ b: 1 }] })'))).toStrictEqual({
      ok: true,
      canonical: '{"a":[{"b":1}]}',
      isAscii: true,
    });
    expect(checkArguments(runInNewContext('new Map()'))).toMatchObject({ ok: false });
  });

  it('names the place of a problem, with foreign keys cut and escaped', () => {
    expect(refusal({ list: [{ ok: 1 }, { when: new Date(0) }] })).toStrictEqual({
      code: 'ENVELOPE_INVALID',
      problem: 'arguments.list[1].when is not a plain object (Date)',
    });
    expect(refusal({ ['\u001b[2J'.repeat(20)]: 1n })).toStrictEqual({
      code: 'ENVELOPE_INVALID',
      problem: `arguments[${JSON.stringify('\u001b[2J'.repeat(10))}] is not a JSON value (bigint)`,
    });
  });

  it('says that a cycle is one, and counts the levels of what is only deep', () => {
    const self: Record<string, unknown> = {};
    self['again'] = { self };
    expect(refusal(self)).toMatchObject({ problem: 'the arguments contain themselves' });
    const deep = JSON.parse(`${'{"a":'.repeat(64)}{}${'}'.repeat(64)}`) as unknown;
    expect(refusal(deep)).toStrictEqual({ code: 'ARGUMENTS_TOO_LARGE', what: 'levels', is: 65, limit: 64 });
  });

  it('reads each member once, so that what is checked is what is sent', () => {
    let reads = 0;
    const shifty = {
      get a() {
        reads += 1;
        return reads === 1 ? 'first' : () => 'second';
      },
    };
    expect(checkArguments(shifty)).toStrictEqual({ ok: true, canonical: '{"a":"first"}', isAscii: true });
  });
});
