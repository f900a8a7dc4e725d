import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nearNames } from '../../base/near-names.ts';
import { toolId } from '../../domain/identity/ids.ts';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import { CLOSED_POLICY, type Policy } from '../../domain/policy/policy.ts';
import type { ArgumentCondition, Rule } from '../../domain/policy/rule.ts';
import { compileCondition, conditionIsMet, parsePlace } from '../rules/compile-condition.ts';
import { findContradiction } from './contradictions.ts';
import { checkRules, findRuleProblems } from './rule-problems.ts';
import { typesAt } from './schema-types.ts';
import { findMisfits, type KnownTools, type RuleTool } from './tool-problems.ts';

const tool = (id: string, more: Partial<RuleTool> = {}): RuleTool => ({
  id: toolId(...(id.split('.') as [string, string])),
  effect: 'read',
  privileged: false,
  inputSchema: {
    type: 'object',
    properties: { url: { type: 'string' }, count: { type: 'integer' } },
    additionalProperties: false,
  },
  ...more,
});
const TOOLS: RuleTool[] = [
  tool('web.fetch'),
  tool('web.search', { inputSchema: { type: 'object', properties: { query: {} }, additionalProperties: false } }),
  tool('sh.run', { effect: 'unsafe', privileged: true, inputSchema: { type: 'object' } }),
];
const ruleOf = (more: Partial<Rule>): Rule => ({ id: 'r', verdict: 'deny', ...more });
const problemsOf = (more: Partial<Rule>, known: KnownTools | 'unknown' = { tools: TOOLS }): string[] =>
  findRuleProblems({ ...CLOSED_POLICY, rules: [ruleOf(more)] }, known === 'unknown' ? undefined : known, nearNames).map(
    ({ path, text }) => `${path.join('.')}: ${text}`,
  );

describe('findRuleProblems, beside a catalog', () => {
  it.each<[Partial<Rule>, string[]]>([
    [{ tools: ['web.fetch', 'web.*', '*'] }, []],
    [
      { tools: ['web.fetch', 'web.fech'] },
      ['rules.0.tools.1: rule "r": web.fech matches no published tool, did you mean web.fetch?'],
    ],
    [{ tools: ['wep.*'] }, ['rules.0.tools.0: rule "r": wep.* matches no published tool, did you mean web.*?']],
    [{ tools: ['mail.send'] }, ['rules.0.tools.0: rule "r": mail.send matches no published tool']],
    [
      { tools: ['web.*'], effects: ['unsafe'] },
      ['rules.0: rule "r": it can never match: none of its tools has effect unsafe'],
    ],
    [
      { tools: ['sh.run'], privileged: false },
      ['rules.0: rule "r": it can never match: none of its tools is not privileged'],
    ],
    [{ effects: ['idempotent'] }, ['rules.0: rule "r": it can never match: no published tool has effect idempotent']],
    [
      { effects: ['read'], privileged: true },
      ['rules.0: rule "r": it can never match: no published tool has effect read and is privileged'],
    ],
    [{ effects: ['unsafe'], privileged: true }, []],
    [{ tools: ['web.fetch'], arguments: [{ at: '/url', exists: true }] }, []],
    [
      { tools: ['web.fetch'], arguments: [{ at: '/urll', exists: true }] },
      ['rules.0.arguments.0: rule "r": web.fetch has no argument /urll, did you mean /url?'],
    ],
    [
      {
        tools: ['web.fetch'],
        arguments: [
          { at: '/url', exists: true },
          { at: '/url/x', exists: true },
        ],
      },
      ['rules.0.arguments.1: rule "r": web.fetch has no argument /url/x'],
    ],
    [
      { tools: ['web.fetch'], arguments: [{ at: '/url', range: { min: 1 } }] },
      ['rules.0.arguments.0: rule "r": range cannot judge /url of web.fetch, a text'],
    ],
    [
      { tools: ['web.fetch'], arguments: [{ at: '/count', equals: '5' }] },
      ['rules.0.arguments.0: rule "r": equals cannot judge /count of web.fetch, a number'],
    ],
    [{ tools: ['web.fetch'], arguments: [{ at: '/count', equals: null }] }, []],
    [
      { tools: ['web.fetch', 'web.search'], arguments: [{ at: '/url', host: ['a.com'] }] },
      ['rules.0.arguments.0: rule "r": web.search has no argument /url'],
    ],
    // If a pattern matches several tools, it is enough that one of them has the argument.
    [{ tools: ['web.*'], arguments: [{ at: '/url', host: ['a.com'] }] }, []],
    [
      { tools: ['web.*'], arguments: [{ at: '/uri', host: ['a.com'] }] },
      [
        'rules.0.arguments.0: rule "r": it fits no tool that it is about: web.fetch has no argument /uri, did you mean /url?',
      ],
    ],
    [{ tools: ['sh.*'], arguments: [{ at: '/anything', exists: true }] }, []],
    [{ arguments: [{ at: '/query', exists: true }] }, []],
  ])('%j: %j', (more, problems) => {
    expect(problemsOf(more)).toStrictEqual(problems);
  });

  it('compares nothing with a catalog that is not known, and nothing of a module that could not be loaded', () => {
    expect(problemsOf({ tools: ['mail.send'], arguments: [{ at: '/x', exists: true }] }, 'unknown')).toStrictEqual([]);
    const known: KnownTools = { tools: TOOLS, broken: ['mail'] };
    expect(problemsOf({ tools: ['mail.send', 'mail.*'], effects: ['unsafe'] }, known)).toStrictEqual([]);
    expect(problemsOf({ effects: ['idempotent'] }, known)).toStrictEqual([]);
    expect(problemsOf({ tools: ['*'], effects: ['idempotent'] }, known)).toStrictEqual([]);
    expect(problemsOf({ tools: ['web.fech'] }, known)).toHaveLength(1);
    expect(problemsOf({ tools: ['web.*'], effects: ['unsafe'] }, known)).toHaveLength(1);
  });
});

describe('conditions about arguments that a tool does not declare', () => {
  const properties = { t: { type: 'string' }, deep: { type: 'object', properties: { u: { type: 'string' } } } };
  const closed = { refusesUndeclared: true } as const;
  const check = (at: string, more: Partial<RuleTool>): string[] | string => {
    const policy: Policy = {
      ...CLOSED_POLICY,
      rules: [ruleOf({ tools: ['s.zo'], arguments: [{ at, equals: 'bad' }] })],
    };
    const known = { tools: [tool('s.zo', more)] };
    try {
      return checkRules({ partsSet: ['rules'], placeOf: () => 'place' }, policy, known, nearNames);
    } catch (error) {
      return (error as Error).message;
    }
  };

  it.each<[string, Partial<RuleTool>]>([
    ['/tt', { inputSchema: { type: 'object', properties } }],
    ['/deep/v', { inputSchema: { type: 'object', properties } }],
    ['/x', { inputSchema: { type: 'object', properties: {} } }],
    [
      '/tt',
      {
        inputSchema: {
          anyOf: [
            { type: 'object', properties },
            { type: 'object', properties: {} },
          ],
        },
      },
    ],
  ])('%s is refused where the code of the schema refuses them: %j', (at, more) => {
    expect(check(at, { ...more, ...closed })).toContain(`rule "r": s.zo has no argument ${at}`);
    expect(check(at, more)).not.toContain('has no argument');
  });

  it.each<[string, JsonObject]>([
    ['/t', { type: 'object', properties }],
    ['/deep/u', { type: 'object', properties }],
    ['/any/thing', { type: 'object', additionalProperties: {} }],
    ['/a', { type: 'object', properties: { a: {} }, additionalProperties: {} }],
    [
      '/u',
      {
        allOf: [
          { type: 'object', properties },
          { type: 'object', properties: { u: {} } },
        ],
      },
    ],
    ['/t/u', { type: 'object', properties: { t: {} } }],
    ['/u', { $ref: '#/$defs/a', $defs: {} }],
  ])('%s is accepted where it is declared, or where nothing is known: %j', (at, inputSchema) => {
    expect(check(at, { inputSchema, ...closed })).toStrictEqual([]);
  });

  it('warn where the schema accepts them', () => {
    const loose = { type: 'object', properties, additionalProperties: {} };
    const warning = 'rule "r": s.zo declares no argument /tt, did you mean /t?; its schema accepts any';
    expect(check('/tt', { inputSchema: loose, ...closed })).toStrictEqual([warning]);
    expect(check('/tt', { inputSchema: { type: 'object', properties } })).toStrictEqual([warning]);
  });

  it('are found in a grant, too', () => {
    const conditions: ArgumentCondition[] = [
      { at: '/t', exists: true },
      { at: '/tt', exists: false },
    ];
    const found = (more: Partial<RuleTool>): string[] =>
      findMisfits(tool('s.zo', { inputSchema: { type: 'object', properties }, ...more }), conditions, nearNames);
    expect(found(closed)).toStrictEqual(['1.at: s.zo has no argument /tt, did you mean /t?']);
    expect(found({})).toStrictEqual([]);
  });
});

describe('checkRules', () => {
  const policy: Policy = { ...CLOSED_POLICY, rules: [ruleOf({ tools: ['web.fech'] })] };
  const placeOf = (path: readonly PropertyKey[]) => `policy.yaml/${path.join('/')}`;
  const check = (partsSet: string[]) => checkRules({ partsSet, placeOf }, policy, { tools: TOOLS }, nearNames);

  it('throws for what the file says, and doubts what it leaves as it is', () => {
    const text = 'rule "r": web.fech matches no published tool, did you mean web.fetch?';
    expect(() => check(['rules'])).toThrow(`policy.yaml/rules/0/tools/0: ${text}`);
    expect(check(['agents'])).toStrictEqual([text]);
  });

  it('throws for permissions that deny a misspelt tool, which would stay open', () => {
    const checkEntry = (entry: string, given: object, tools = TOOLS, broken: string[] = []) =>
      checkRules(
        { partsSet: [], placeOf: (path, key) => `${placeOf(path)}/${key}` },
        { ...CLOSED_POLICY, permissions: { '*': { allow: ['*'] }, [entry]: given } },
        { tools, broken },
        nearNames,
      );
    const deny = { deny: ['eve'] };
    expect(() => checkEntry('web.fech', deny)).toThrow(
      'policy.yaml/permissions/web.fech: permissions.web.fech: it matches no published tool, did you mean web.fetch?',
    );
    expect(() => checkEntry('wep.*', deny)).toThrow('did you mean web.*?');
    for (const entry of ['web.fetch', 'web.*', '*', 'postgres.query']) expect(checkEntry(entry, deny)).toEqual([]);
    expect(checkEntry('web.fech', { allow: ['eve'] })).toEqual([]);
    expect(checkEntry('web.fech', deny, [])).toEqual([]);
    expect(checkEntry('web.fech', deny, TOOLS, ['web'])).toEqual([]);
  });
});

describe('findContradiction', () => {
  const text = fc.constantFrom('a', 'ab', 'b', 'https://a.com/', 'https://x.a.com/', '/a/b', '/a', 'a/b');
  const bounds = fc.constantFrom({ min: 1 }, { max: 1 }, { min: 1, max: 2 }, { min: 3, max: 4 });
  const value: fc.Arbitrary<JsonValue> = fc.oneof(
    text,
    fc.constantFrom(0, 1, 2, 3, true, null),
    fc.constantFrom([], ['a'], {}),
  );
  const compared = fc.oneof(
    fc.record({ exists: fc.boolean() }),
    fc.record({ equals: value }),
    fc.record({ in: fc.array(value, { minLength: 1, maxLength: 2 }) }),
    fc.record({ prefix: text }),
    fc.record({ glob: fc.constantFrom('*', 'a*', '**') }),
    fc.record({ range: bounds }),
    fc.record({ length: bounds }),
    fc.record({ host: fc.subarray(['a.com', '*.a.com', 'b.com', '*.com'], { minLength: 1, maxLength: 2 }) }),
    fc.record({ root: fc.subarray(['/a', '/a/b', '/b', 'a', '.'], { minLength: 1, maxLength: 2 }) }),
  );
  const condition = fc
    .tuple(compared, fc.boolean())
    .map(([one, not]): ArgumentCondition => ({ at: '/x', ...one, ...(not ? { not } : {}) }));

  it('is right: nothing that can be judged meets both', () => {
    fc.assert(
      fc.property(condition, condition, fc.array(value, { minLength: 10, maxLength: 10 }), (one, other, values) => {
        const found = findContradiction(ruleOf({ verdict: 'allow', arguments: [one, other] }));
        const args: JsonObject[] = [{}, ...values.map((x) => ({ x }))];
        const met = args.filter((given) =>
          [one, other].every((each) => conditionIsMet(compileCondition(each), given, true)),
        );
        expect(found === undefined ? [] : met).toStrictEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('typesAt', () => {
  const at = (schema: JsonValue, pointer: string) => [...typesAt(schema, parsePlace(pointer)!)].sort();
  const ANY = ['boolean', 'group', 'list', 'null', 'number', 'text'];
  it.each<[JsonValue, string, string[]]>([
    [true, '/a', ANY],
    [false, '', []],
    [{}, '/a', ANY],
    [{ type: 'object' }, '/a', ANY],
    [{ type: 'object', properties: { a: { type: 'string' } } }, '/a', ['text']],
    [{ type: 'object', properties: { a: { type: ['integer', 'null'] } } }, '/a', ['null', 'number']],
    [{ properties: { a: { enum: [1, 'x'] } } }, '/a', ['number', 'text']],
    [{ properties: { a: { const: [] } } }, '/a', ['list']],
    [{ properties: { a: {} }, additionalProperties: false }, '/b', []],
    [{ properties: {}, additionalProperties: { type: 'number' } }, '/b', ['number']],
    [{ patternProperties: { '^b': { type: 'number' } }, additionalProperties: false }, '/b', ANY],
    [{ properties: { toString: {} }, additionalProperties: false }, '/constructor', []],
    [{ properties: { a: { type: 'string' } } }, '/a/b', []],
    [{ properties: { a: { type: 'array', items: { type: 'string' } } } }, '/a/*', ['text']],
    [{ properties: { a: { type: 'array', items: { type: 'string' } } } }, '/a/3', ['text']],
    [{ properties: { a: { type: 'array', items: { type: 'string' } } } }, '/a/b', []],
    [{ properties: { a: { type: 'array', prefixItems: [{ type: 'number' }], items: false } } }, '/a/0', ['number']],
    [{ properties: { a: { type: 'array', prefixItems: [{ type: 'number' }], items: false } } }, '/a/1', []],
    [
      { type: 'object', properties: { a: { type: 'number' }, b: { type: 'string' } }, additionalProperties: false },
      '/*',
      ['number', 'text'],
    ],
    [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, '', ['number', 'text']],
    [{ oneOf: [{ properties: { a: {} }, additionalProperties: false }, { type: 'string' }] }, '/b', []],
    [{ allOf: [{ type: ['string', 'number'] }, { type: ['string', 'null'] }] }, '', ['text']],
    [{ $ref: '#/$defs/x' }, '/a/b', ANY],
    [{ type: 'unheard-of' }, '', ANY],
  ])('of %j at "%s" is %j', (schema, pointer, types) => {
    expect(at(schema, pointer)).toStrictEqual(types);
  });

  it('ends on a schema of any depth', () => {
    let schema: JsonObject = { type: 'string' };
    for (let depth = 0; depth < 10_000; depth += 1) schema = { allOf: [schema] };
    expect(at(schema, '')).toStrictEqual(ANY);
  });
});
