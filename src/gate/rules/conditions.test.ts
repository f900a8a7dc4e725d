import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { ArgumentCondition } from '../../domain/policy/rule.ts';
import { compileCondition, conditionIsMet } from './compile-condition.ts';
import { judgedAs } from '../../../test/support/judged-as.ts';

type Compared = Omit<ArgumentCondition, 'at' | 'not'>;
const judged = (compared: Compared, value: JsonValue) => judgedAs({ at: '/x', ...compared }, { x: value });

describe('a comparison', () => {
  it.each<[Compared, JsonValue, ReturnType<typeof judgedAs>]>([
    [{ exists: true }, 1, 'holds'],
    [{ exists: true }, null, 'holds'],
    [{ exists: false }, null, 'fails'],
    [{ exists: false }, false, 'fails'],

    [{ equals: 5 }, 5, 'holds'],
    [{ equals: 0 }, -0, 'holds'],
    [{ equals: 5 }, 6, 'fails'],
    [{ equals: 5 }, '5', 'unclear'],
    [{ equals: 5 }, [5], 'unclear'],
    [{ equals: 5 }, null, 'fails'],
    [{ equals: true }, 'true', 'unclear'],
    [{ equals: true }, 1, 'unclear'],
    [{ equals: 'prod' }, 'prod', 'holds'],
    [{ equals: 'prod' }, 'Prod', 'fails'],
    [{ equals: 'prod' }, ['prod'], 'unclear'],
    [{ equals: 'prod' }, { name: 'prod' }, 'unclear'],
    [{ equals: null }, null, 'holds'],
    [{ equals: null }, 'null', 'fails'],
    [{ equals: null }, {}, 'fails'],
    [{ equals: { a: 1, b: [2] } }, { b: [2], a: 1 }, 'holds'],
    [{ equals: { a: 1 } }, { a: 1, b: 2 }, 'fails'],
    [{ equals: { a: 1 } }, { b: 1 }, 'fails'],
    [{ equals: { a: 1 } }, [{ a: 1 }], 'unclear'],
    [{ equals: [1, 2] }, [1, 2], 'holds'],
    [{ equals: [1, 2] }, [2, 1], 'fails'],
    [{ equals: [1, 2] }, [1], 'fails'],
    [{ equals: [1, 2] }, { 0: 1, 1: 2 }, 'unclear'],

    [{ in: ['a', 'b'] }, 'b', 'holds'],
    [{ in: ['a', 'b'] }, 'c', 'fails'],
    [{ in: ['a', 'b'] }, ['a'], 'unclear'],
    [{ in: ['a', 1] }, 2, 'fails'],
    [{ in: ['a', 1] }, true, 'unclear'],
    [{ in: ['a', null] }, null, 'holds'],
    [{ in: ['a', [1]] }, [1], 'holds'],
    [{ in: ['a', [1]] }, [], 'fails'],

    [{ prefix: 'rm ' }, 'rm -rf /', 'holds'],
    [{ prefix: 'rm ' }, 'RM -rf /', 'fails'],
    [{ prefix: 'rm ' }, ' rm -rf /', 'fails'],
    [{ prefix: 'rm ' }, ['rm ', '-rf'], 'unclear'],
    [{ prefix: 'rm ' }, null, 'missing'],
    [{ prefix: '1' }, 12, 'unclear'],

    [{ glob: '*.csv' }, 'a.csv', 'holds'],
    [{ glob: '*.csv' }, '.csv', 'holds'],
    [{ glob: '*.csv' }, 'a/b.csv', 'fails'],
    [{ glob: '*.csv' }, 'a.csv\n', 'fails'],
    [{ glob: '*.csv' }, 'a.csv.exe', 'fails'],
    [{ glob: '**.csv' }, 'a/b.csv', 'holds'],
    [{ glob: 'rm **' }, 'rm -rf /etc\n/var', 'holds'],
    [{ glob: '**/.env' }, '.env', 'holds'],
    [{ glob: '**/.env' }, '/srv/app/.env', 'holds'],
    [{ glob: '**/.env' }, '/srv/app/x.env', 'fails'],
    [{ glob: '/a/**/z' }, '/a/z', 'holds'],
    [{ glob: '/a/**/z' }, '/a/b/c/z', 'holds'],
    [{ glob: '/a/**/z' }, '/az', 'fails'],
    [{ glob: 'a**/z' }, 'ab/c/z', 'holds'],
    [{ glob: 'v?' }, 'v1', 'holds'],
    [{ glob: 'v?' }, 'v\u{1f600}', 'holds'],
    [{ glob: 'v?' }, 'v/', 'fails'],
    [{ glob: 'v?' }, 'v', 'fails'],
    [{ glob: 'a.c[1]{2}(3)$^|\\+' }, 'a.c[1]{2}(3)$^|\\+', 'holds'],
    [{ glob: 'a.c' }, 'abc', 'fails'],
    [{ glob: '*' }, 7, 'unclear'],
    [{ glob: '*' }, null, 'missing'],

    [{ pattern: 'pass(word)?' }, 'my password', 'holds'],
    [{ pattern: '^pass$' }, 'pass\n', 'fails'],
    [{ pattern: '^pass$' }, 'x\npass', 'fails'],
    [{ pattern: '(?i)DROP\\s+TABLE' }, 'drop \t table', 'holds'],
    [{ pattern: '\\d' }, 5, 'unclear'],
    [{ pattern: '.' }, null, 'missing'],

    [{ range: { min: 1, max: 10 } }, 1, 'holds'],
    [{ range: { min: 1, max: 10 } }, 10, 'holds'],
    [{ range: { min: 1, max: 10 } }, 10.001, 'fails'],
    [{ range: { min: 1 } }, 1e308, 'holds'],
    [{ range: { max: 1 } }, -1e308, 'holds'],
    [{ range: { min: 100 } }, '150', 'unclear'],
    [{ range: { min: 100 } }, [150], 'unclear'],
    [{ range: { min: 100 } }, true, 'unclear'],
    [{ range: { min: 100 } }, null, 'missing'],

    [{ length: { max: 3 } }, 'abc', 'holds'],
    [{ length: { max: 3 } }, 'abcd', 'fails'],
    [{ length: { max: 1 } }, '\u{1f600}', 'holds'],
    [{ length: { min: 2 } }, '\u{1f600}', 'fails'],
    [{ length: { min: 1 } }, '', 'fails'],
    [{ length: { max: 2 } }, [1, 2], 'holds'],
    [{ length: { max: 2 } }, [1, 2, 3], 'fails'],
    [{ length: { max: 2 } }, { a: 1 }, 'unclear'],
    [{ length: { max: 2 } }, 12, 'unclear'],
    [{ length: { max: 2 } }, null, 'missing'],

    [{ host: ['good.com'] }, 'https://good.com/', 'holds'],
    [{ host: ['good.com'] }, ['https://good.com/'], 'unclear'],
    [{ host: ['good.com'] }, { href: 'https://good.com/' }, 'unclear'],
    [{ host: ['good.com'] }, null, 'missing'],

    [{ root: ['/data'] }, '/data/x', 'holds'],
    [{ root: ['/data'] }, ['/data/x'], 'unclear'],
    [{ root: ['/data'] }, null, 'missing'],
  ])('%j of %j: %s', (compared, value, judgement) => {
    expect(judged(compared, value)).toBe(judgement);
  });

  it.each<Compared>([
    { pattern: '^(a+)+$' },
    { pattern: '(x+x+)+y' },
    { pattern: '(.*)*!' },
    { glob: '*a*a*a*a*a*a*a*a*a*b' },
    { glob: `${'**/'.repeat(20)}b` },
  ])('%j ends where a backtracking engine would not', (compared) => {
    expect(judged(compared, `${'a'.repeat(25_000)}${'x'.repeat(25_000)}`)).toBe('fails');
  });

  it('cannot judge a text that is too long for a very large pattern', () => {
    const large = { pattern: '(?:[ab]{1,30}a){30}[cd]' };
    expect(judged(large, 'a'.repeat(4_000))).toBe('fails');
    expect(judged(large, 'a'.repeat(1_000_000))).toBe('unclear');
    expect(judged({ pattern: '[cd]' }, 'a'.repeat(1_000_000))).toBe('fails');
  });
});

describe('a pointer', () => {
  const args: JsonObject = {
    a: { b: 'x', 'c/d': 'x', 'e~f': 'x', '': 'x', 0: 'x' },
    list: ['x', 'y'],
    pages: [{ url: 'x' }, { url: 'y' }],
    some: [{ url: 'x' }, {}],
    all: [{ url: 'x' }, { url: 'x' }],
    odd: [{ url: 'x' }, 'x'],
    map: { one: 'x', two: 'x' },
    empty: [],
    none: {},
    text: 'x',
    nothing: null,
  };
  it.each([
    ['/a/b', 'holds'],
    ['/a/c~1d', 'holds'],
    ['/a/e~0f', 'holds'],
    ['/a/', 'holds'],
    ['/a/0', 'holds'],
    ['/a/z', 'missing'],
    ['/z', 'missing'],
    ['/z/b', 'missing'],
    ['/list/0', 'holds'],
    ['/list/1', 'fails'],
    ['/list/2', 'missing'],
    ['/list/999999999', 'missing'],
    ['/list/1000000000', 'unclear'],
    ['/list/01', 'unclear'],
    ['/list/-', 'unclear'],
    ['/list/length', 'unclear'],
    ['/pages/0/url', 'holds'],
    ['/pages/url', 'unclear'],
    ['/text/b', 'unclear'],
    ['/text/0', 'unclear'],
    ['/text/*', 'unclear'],
    ['/nothing/b', 'missing'],
    ['/nothing/*', 'missing'],
    ['/empty/*', 'missing'],
    ['/none/*', 'missing'],
    ['/all/*/url', 'holds'],
    ['/map/*', 'holds'],
    ['/__proto__/toString', 'missing'],
    ['/a/constructor', 'missing'],
    ['/list/constructor', 'unclear'],
  ])('%s: %s', (at, judgement) => {
    expect(judgedAs({ at, equals: 'x' }, args)).toBe(judgement);
  });

  it('of the whole arguments is empty', () => {
    expect(judgedAs({ at: '', equals: { a: 1 } }, { a: 1 })).toBe('holds');
    expect(judgedAs({ at: '/*', equals: 1 }, { a: 1, b: 1 })).toBe('holds');
  });

  it('finds a member that is called like something every object has', () => {
    const hostile = JSON.parse('{"__proto__": {"x": 1}, "constructor": 1}') as JsonObject;
    expect(judgedAs({ at: '/__proto__/x', equals: 1 }, hostile)).toBe('holds');
    expect(judgedAs({ at: '/constructor', equals: 1 }, hostile)).toBe('holds');
  });

  it.each<[string, boolean, boolean]>([
    // Columns: `at`; whether the condition is met in an allow rule; whether it is met in a deny rule.
    ['/list/*', false, true],
    ['/pages/*/url', false, true],
    ['/some/*/url', false, true],
    ['/odd/*/url', false, true],
    ['/all/*/url', true, true],
    ['/empty/*', false, false],
  ])('with several elements, %s needs all of them to allow and one to deny', (at, allows, denies) => {
    const condition = compileCondition({ at, equals: 'x' });
    expect([true, false].map((isAllow) => conditionIsMet(condition, args, isAllow))).toStrictEqual([allows, denies]);
  });

  it('finds whether a value is there, element by element', () => {
    expect(judgedAs({ at: '/a/b', exists: true }, args)).toBe('holds');
    expect(judgedAs({ at: '/a/z', exists: true }, args)).toBe('fails');
    expect(judgedAs({ at: '/a/z', exists: false }, args)).toBe('holds');
    expect(judgedAs({ at: '/text/z', exists: false }, args)).toBe('unclear');
    expect(judgedAs({ at: '/empty/*', exists: false }, args)).toBe('holds');
    const someLack = compileCondition({ at: '/some/*/url', exists: false });
    expect([true, false].map((isAllow) => conditionIsMet(someLack, args, isAllow))).toStrictEqual([false, true]);
  });
});

describe('a condition that is not understood', () => {
  it.each<[string, unknown]>([
    ['no comparison', { at: '/x' }],
    ['two comparisons', { at: '/x', equals: 1, exists: true }],
    ['a key of a later release', { at: '/x', equals: 1, ignoreCase: true }],
    ['a comparison of a later release', { at: '/x', country: ['AQ'] }],
    ['no pointer', { at: 'x', equals: 1 }],
    ['a pattern that is none', { at: '/x', pattern: '(' }],
    ['a host that is none', { at: '/x', host: ['a b'] }],
    ['a folder that is none', { at: '/x', root: ['..'] }],
  ])('because of %s cannot judge anything', (_, condition) => {
    expect(judgedAs(condition as ArgumentCondition, { x: 1 })).toBe('unclear');
    expect(judgedAs(condition as ArgumentCondition, {})).toBe('unclear');
  });
});
