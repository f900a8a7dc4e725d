import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../base/canonical-json.ts';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { UpstreamDefinition } from '../../domain/upstream/definition.ts';
import { describeChange, MAX_DEFINITION_BYTES, MAX_MEMBERS, type DefinitionChange } from './describe-change.ts';
import { newSteps, MAX_SEARCH_STEPS } from './diff-words.ts';

const tool = (body: JsonObject): UpstreamDefinition => ({ kind: 'tool', name: 'a', body });
const change = (before: JsonObject, after: JsonObject): DefinitionChange => describeChange(tool(before), tool(after));
const shown = ({ members }: DefinitionChange): string[] =>
  members.map(({ pointer, segments }) => {
    const texts = segments.map(({ kind, text, skippedWords, textAfter }) => {
      const whole = skippedWords === undefined ? text : `${text}<${skippedWords}>${textAfter}`;
      return { kept: whole, removed: `[-${whole}-]`, added: `{+${whole}+}` }[kind];
    });
    return `${pointer}: ${texts.join('')}`;
  });

describe('the description of a change', () => {
  it.each<[string, JsonObject, JsonObject, string[]]>([
    ['names the member', { a: { b: 'x y' } }, { a: { b: 'x z' } }, ['/a/b: "x [-y-]{+z+}"']],
    ['takes other orders of members for equal', { a: 1, b: { c: 1, d: 2 } }, { b: { d: 2, c: 1 }, a: 1 }, []],
    ['shows an added member', {}, { a: 'x' }, ['/a: {+"x"+}']],
    ['shows a removed member', { a: 'x' }, {}, ['/a: [-"x"-]']],
    ['shows members of an added object', {}, { a: { b: 1, c: { d: true } } }, ['/a/b: {+1+}', '/a/c/d: {+true+}']],
    ['shows an added empty object', {}, { a: {} }, ['/a: {+{}+}']],
    ['shows that a list became empty', { a: [{ b: 1 }] }, { a: [] }, ['/a/0/b: [-1-]']],
    ['tells a text from a number', { a: 5 }, { a: '5' }, ['/a: {+"+}5{+"+}']],
    ['tells null from nothing', { a: null }, {}, ['/a: [-null-]']],
    ['shows another type', { a: { b: 1 } }, { a: 'x' }, ['/a: [-{"b":1}-]{+"x"+}']],
    ['shows lists of texts in one line', { a: ['x', 'y'] }, { a: ['w', 'x'] }, ['/a: [ {+"w" +}"x" [-"y" -]]']],
    ['shows another order of a list', { a: [1, 2] }, { a: [2, 1] }, ['/a: [ [-1 -]2 {+1 +}]']],
    [
      'matches elements of lists first',
      { a: [{ n: 1 }, { n: 2 }] },
      { a: [{ n: 0 }, { n: 1 }, { n: 2 }] },
      ['/a/0/n: {+0+}'],
    ],
    ['goes into a changed element', { a: [{ n: 'x', t: 1 }] }, { a: [{ n: 'x', t: 2 }] }, ['/a/0/t: [-1-]{+2+}']],
    ['escapes names in pointers', {}, { 'a/b~c': 1 }, ['/a~1b~0c: {+1+}']],
    ['makes hidden characters visible after comparing', { a: 'x y' }, { a: 'x\u200b y' }, ['/a: "x{+\\u{200b}+} y"']],
    ['makes hidden characters in names visible', {}, { 'a\u202e': 1 }, ['/a\\u{202e}: {+1+}']],
    ['reads only own members', {}, { constructor: 'x' }, ['/constructor: {+"x"+}']],
  ])('%s', (_, before, after, expected) => {
    expect(shown(change(before, after))).toStrictEqual(expected);
  });

  it('counts hidden characters of the new value, and of the old one if there is no new one', () => {
    const [member] = change({ a: '\u200b' }, { a: 'x\u200b\u200c\u202ey' }).members;
    expect(member!.hidden).toStrictEqual([
      { what: 'a zero-width character', count: 2 },
      { what: 'a bidirectional control', count: 1 },
    ]);
    expect(change({ a: '\u200b' }, {}).members[0]!.hidden).toStrictEqual([
      { what: 'a zero-width character', count: 1 },
    ]);
  });

  it('shortens unchanged text to the words next to changes', () => {
    const words = Array.from({ length: 300 }, (_, index) => `w${index}`);
    const [before, after] = [words.join(' '), words.with(150, 'new').join(' ')];
    const [line] = shown(change({ a: before }, { a: after }));
    expect(line).toBe(
      '/a: <142>w142 w143 w144 w145 w146 w147 w148 w149 [-w150-]{+new+} w151 w152 w153 w154 w155 w156 w157 w158<141>',
    );
    expect(line!.length).toBeLessThan(250);
    expect(shown(change({ a: 'a b c d' }, { a: 'a b x d' }))).toStrictEqual(['/a: "a b [-c-]{+x+} d"']);
  });

  it('shortens an unchanged word that is very long', () => {
    const long = 'x'.repeat(100_000);
    expect(shown(change({ a: `${long} a` }, { a: `${long} b` }))[0]!.length).toBeLessThan(400);
    expect(shown(change({ a: `a ${long}` }, { a: `b ${long}` }))[0]!.length).toBeLessThan(400);
    expect(shown(change({ a: `a ${long} a` }, { a: `b ${long} b` }))[0]!.length).toBeLessThan(600);
  });

  it('never shortens what was added or removed', () => {
    const long = Array.from({ length: 5000 }, (_, index) => `w${index}`).join(' ');
    expect(shown(change({ a: '' }, { a: long }))[0]).toContain(long);
  });

  it('describes a new and a removed definition', () => {
    expect(describeChange(undefined, tool({ name: 'a' }))).toMatchObject({ key: 'tool a', kind: 'added' });
    expect(shown(describeChange(undefined, tool({ name: 'a' })))).toStrictEqual(['/name: {+"a"+}']);
    expect(describeChange(tool({ name: 'a' }), undefined)).toMatchObject({ key: 'tool a', kind: 'removed' });
  });
});

describe('the limits of a description', () => {
  it('shows no part of a definition that is too large, and says so', () => {
    const large = { a: 'x'.repeat(MAX_DEFINITION_BYTES) };
    for (const found of [change({}, large), change(large, {}), change(large, large)]) {
      expect(found.members).toStrictEqual([]);
      expect(found.problem).toContain(`only differences up to ${MAX_DEFINITION_BYTES} bytes are shown`);
    }
    const exact = { a: 'x'.repeat(MAX_DEFINITION_BYTES - '{"a":""}'.length) };
    expect(change({}, exact).problem).toBeUndefined();
  });

  it('says how many members are not shown', () => {
    const many = Object.fromEntries(Array.from({ length: MAX_MEMBERS + 7 }, (_, index) => [`m${index}`, 1]));
    const found = change({}, many);
    expect(found.members.length).toBe(MAX_MEMBERS);
    expect(found.problem).toBe('7 more changed members are not shown');
  });

  it('compares deep definitions without deep calls', () => {
    const nest = (leaf: JsonValue): JsonObject => {
      let value = leaf;
      for (let depth = 0; depth < 5000; depth += 1) value = [value];
      return { a: value };
    };
    const found = change(nest(1), nest(2));
    expect(found.members.length).toBe(1);
    expect(found.members[0]!.pointer.split('/').length).toBe(65);
  });

  it('cuts long names in pointers', () => {
    const [member] = change({}, { ['n'.repeat(5000)]: 1 }).members;
    expect(member!.pointer.length).toBeLessThanOrEqual(101);
  });

  it('shares one limit of steps among all members', () => {
    const text = (seed: number): string =>
      Array.from({ length: 600 }, (_, index) => `${seed}w${index * seed}`).join(' ');
    const bodyOf = (shift: number): JsonObject =>
      Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`m${index}`, text(2 * index + shift)]));
    const steps = newSteps();
    const [before, after] = [tool(bodyOf(2)), tool(bodyOf(3))];
    describeChange(before, after, steps);
    expect(steps.searchesLeft).toBe(0);
    const words = 2 * 40 * 600 * 2;
    expect(steps.spent).toBeLessThanOrEqual(MAX_SEARCH_STEPS + 4 * words);
  });

  it('is empty exactly if the definitions have the same canonical JSON', () => {
    const body = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 3 });
    fc.assert(
      fc.property(body, body, (one, other) => {
        const [before, after] = [one, other].map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);
        const isSame = canonicalJson(before) === canonicalJson(after);
        expect(change(before!, after!).members.length === 0).toBe(isSame);
      }),
    );
  });
});
