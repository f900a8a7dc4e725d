import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyCharacter } from '../../../test/support/any-character.ts';
import { samplePublished } from '../../../test/support/sample-call.ts';
import { NAME_PATTERN, splitToolId, toolId } from '../../domain/identity/ids.ts';
import { toolNames } from './named-tools.ts';
import { TOOL_NAME_PATTERN, toolName } from './tool-name.ts';

/** Names of few different letters and many separators, so that ids often come up whose joined names could be split in two ways. */
const name = fc.stringMatching(/^[aA0][aA0_-]{0,5}$/);
const longName = fc.stringMatching(/^[a0][a_-]{20,63}$/);
const anyName = fc.stringMatching(NAME_PATTERN);
const idOf = (part: fc.Arbitrary<string>) => fc.tuple(part, part).map(([module, tool]) => toolId(module, tool));
const anyId = fc.oneof(idOf(name), idOf(longName), idOf(anyName));

describe('toolName', () => {
  test.each([
    ['clock.now', 'clock__now'],
    ['my-notes.add_all', 'my-notes__add_all'],
    ['a.b_', 'a__b_'],
    ['7zip.list', '_7zip__list'],
    [`${'m'.repeat(31)}.${'t'.repeat(31)}`, `${'m'.repeat(31)}__${'t'.repeat(31)}`],
  ])('joins the parts of %s', (id, expected) => {
    expect(toolName(id)).toBe(expected);
  });

  // The names are written out: they must not change between releases, because transcripts and prompt caches contain them.
  test.each([
    ['a_.b', 'a_b_6jkdlho52jlabars9lfg'],
    ['a.b__c', 'a_b_c_8iq41tqfgo3lc61ulord'],
    ['a__b.c', 'a_b_c_aujm64eqkhilocauo5nb'],
    ['7__zip.list', '_7_zip_list_9dmaknl22gqpfhmsjnh1'],
    [`${'m'.repeat(31)}.${'t'.repeat(32)}`, `${'m'.repeat(14)}_${'t'.repeat(27)}_4diq625diccrcd3sf5jr`],
    [`${'m'.repeat(64)}.${'t'.repeat(64)}`, `${'m'.repeat(14)}_${'t'.repeat(27)}_ejv56bkpko9ub0oggffj`],
    [`${'m'.repeat(64)}.add`, `${'m'.repeat(38)}_add_o272bbscvnvuhhp8vpe3`],
    ['not an id', 'not_an_id_7hq1117skigm8m912lbl'],
    ['', '_seoc8gkovge196nruj49'],
  ])('gives %s its digest', (id, expected) => {
    expect(toolName(id)).toBe(expected);
  });

  test('is a name that every provider takes', () => {
    const anything = fc.oneof(anyId, fc.string({ unit: anyCharacter }));
    fc.assert(
      fc.property(anything, (id) => {
        expect(toolName(id)).toMatch(TOOL_NAME_PATTERN);
      }),
    );
  });

  test('gives different ids different names', () => {
    fc.assert(
      fc.property(fc.uniqueArray(anyId, { maxLength: 100 }), (ids) => {
        expect(new Set(ids.map(toolName)).size).toBe(ids.length);
      }),
      { numRuns: 300 },
    );
  });

  test('gives all ids of two short parts different names', () => {
    const parts = allNames(['a', '0', '_', '-'], 4);
    const ids = parts.flatMap((module) => parts.map((tool) => toolId(module, tool)));
    expect(ids.length).toBeGreaterThan(25_000);
    expect(new Set(ids.map(toolName)).size).toBe(ids.length);
  });

  test('gives long ids that differ in one character different names', () => {
    const longId = fc.stringMatching(/^a[aA_-]{40,63}\.a[aA_-]{40,63}$/);
    fc.assert(
      fc.property(longId, fc.nat(), fc.constantFrom('a', 'A', '_', '-'), (id, at, other) => {
        const place = at % id.length;
        const near = id.slice(0, place) + other + id.slice(place + 1);
        expect(toolName(near) === toolName(id)).toBe(near === id);
      }),
      { numRuns: 500 },
    );
  });

  test('has a digest, or can be read back without a toolkit', () => {
    fc.assert(
      fc.property(anyId, (id) => {
        const name = toolName(id);
        const readBack = name.replace(/^_/, '').replace('__', '.');
        expect([id, name]).toContain(name.includes('__') ? readBack : /.*_[0-9a-v]{20}$/.exec(name)?.[0]);
      }),
    );
  });

  test('of what is no id never looks like the name of an id', () => {
    const noId = fc.oneof(
      fc.string({ unit: anyCharacter }).filter((text) => splitToolId(text) === undefined),
      anyId.map((id) => `${id}.x`),
    );
    fc.assert(
      fc.property(noId, (text) => {
        expect(toolName(text)).not.toContain('__');
      }),
    );
  });
});

describe('toolNames', () => {
  test('leads from every name back to its id', () => {
    fc.assert(
      fc.property(fc.uniqueArray(anyId, { maxLength: 30 }), (ids) => {
        const { toolIdOf } = toolNames(ids.map((id) => samplePublished({ id })));
        expect(ids.map((id) => toolIdOf(toolName(id)))).toStrictEqual(ids);
      }),
    );
  });

  test('knows no tool that is not in the toolkit, by any name', () => {
    const { toolIdOf } = toolNames([samplePublished({ id: toolId('clock', 'now') })]);
    expect(toolIdOf('clock__now')).toBe('clock.now');
    for (const said of ['clock.now', 'clock__set', 'Clock__now', 'constructor', '__proto__', ''])
      expect(toolIdOf(said)).toBeUndefined();
  });

  test('refuses a toolkit with a tool twice', () => {
    const tool = samplePublished({ id: toolId('clock', 'now') });
    expect(() => toolNames([tool, tool])).toThrow('The toolkit has "clock.now" twice, as "clock__now".');
  });
});

function allNames(letters: readonly string[], maxLength: number): string[] {
  let names = [''];
  const all: string[] = [];
  for (let length = 1; length <= maxLength; length += 1) {
    names = names.flatMap((start) => letters.map((letter) => start + letter));
    all.push(...names);
  }
  return all.filter((each) => NAME_PATTERN.test(each));
}
