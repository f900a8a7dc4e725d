import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../base/json.ts';
import { EFFECTS } from '../../domain/tool/tool.ts';
import { definitionDigest } from '../../domain/upstream/definition.ts';
import type { PinsRecord, UpstreamPin } from '../../domain/upstream/pin.ts';
import { comparePinsFile, writePinsFile } from './pins-file.ts';
import { readPinsFile } from './read-pins-file.ts';

describe('a record of pins', () => {
  // The unit `binary` of fast-check needs seconds to begin.
  const anyText = fc.string({
    unit: fc
      .nat(0x10ffff)
      .filter((code) => code < 0xd800 || code > 0xdfff)
      .map((code) => String.fromCodePoint(code)),
  });
  const text = fc.oneof(
    fc.string({
      unit: fc.constantFrom(
        'a',
        ' ',
        '\n',
        '\t',
        '\r',
        ':',
        '#',
        '"',
        "'",
        '\\',
        '-',
        '\u200b',
        '\u202e',
        '\u{e0041}',
        '\u00a0',
        '\u0085',
        '\u2028',
        '\ufeff',
        '😀',
        'é',
        '\u001b',
        '|',
        '>',
        '&',
        '*',
        '!',
        '%',
        '@',
        '`',
        '{',
        '0',
        '~',
      ),
    }),
    anyText,
    fc.constantFrom(
      'true',
      'null',
      '1',
      '1e3',
      '0x1',
      '.inf',
      '~',
      '',
      '2024-01-01',
      '<<',
      '__proto__',
      'x: y',
      '--- a',
      '...',
    ),
  );
  const value = fc.letrec<{ any: unknown }>((tie) => ({
    any: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      text,
      fc.boolean(),
      fc.constant(null),
      fc.maxSafeInteger(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(text, tie('any'), { maxKeys: 3 }),
    ),
  })).any;
  const pin = fc
    .record({
      kind: fc.constantFrom('tool' as const, 'prompt' as const),
      name: text,
      title: value,
      description: text,
      effect: fc.constantFrom(...EFFECTS),
    })
    .map(({ kind, name, title, description, effect }): UpstreamPin => {
      const body = JSON.parse(JSON.stringify({ name, title, description })) as JsonObject;
      return { kind, name, effect, body, digest: definitionDigest({ kind, body }) };
    });
  const upstream = fc.record({
    server: fc.dictionary(text, value, { maxKeys: 3 }).map((each) => JSON.parse(JSON.stringify(each)) as JsonObject),
    pins: fc.uniqueArray(pin, { maxLength: 3, selector: ({ kind, name }) => `${kind} ${name}` }),
  });
  const record: fc.Arbitrary<PinsRecord> = fc.record({
    version: fc.nat(),
    upstreams: fc.dictionary(fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,10}$/), upstream, { maxKeys: 3 }),
  });

  it('is the same after it was written and read', () => {
    fc.assert(
      fc.property(record, (written) => {
        const file = writePinsFile(written);
        expect(file).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
        const found = readPinsFile(file);
        if (found.kind === 'problems') throw new Error(`${found.problems.join('\n')}\n${file}`);
        expect(found.record.version).toBe(written.version);
        expect(comparePinsFile(found.record, written)).toStrictEqual([]);
        expect(writePinsFile(found.record)).toBe(file);
      }),
    );
  });
});
