import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeCatalog, type CatalogShape } from '../../../test/support/sample-catalog.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { checkSelection } from '../identity/agent.ts';
import { compareText } from './catalog-index.ts';
import { checkPermission, type Policy } from '../policy/policy.ts';
import { normaliseSelection, type SelectionInput } from '../identity/selection.ts';
import type { Identity } from '../identity/session.ts';
import { buildToolkit, type MissingTool } from './toolkit.ts';

const OPEN: Policy = { roles: {}, permissions: { '*': { allow: ['*'] } }, paused: {} };
const CATALOG = makeCatalog({ notes: ['search', 'edit', 'purge!'], files: ['read', 'write'], bare: [] });

const as = (agent: string, ...delegators: string[]): Identity => ({
  tenant: 'default',
  subject: 'alice',
  agent,
  ...(delegators.length === 0 ? {} : { delegators }),
});

function declaring(agents: Record<string, SelectionInput>, more: Partial<Policy> = {}): Policy {
  const declared = Object.entries(agents).map(([name, input]) => [name, normaliseSelection(input)] as const);
  return { ...OPEN, ...more, agents: Object.fromEntries(declared) };
}

const idsOf = ({ tools }: { tools: readonly { tool: { id: string } }[] }): string[] => tools.map(({ tool }) => tool.id);

describe('buildToolkit', () => {
  it('main without edit does not take it from the member, nor the member search from main', () => {
    const policy = declaring({
      main: [{ module: 'notes', tools: { search: true, edit: false } }],
      member: [{ module: 'notes', tools: { edit: true } }],
    });
    expect(idsOf(buildToolkit(CATALOG, policy, as('main')))).toEqual(['notes.search']);
    expect(idsOf(buildToolkit(CATALOG, policy, as('member')))).toEqual(['notes.edit']);
  });

  it('is in the order of ids, also where that is not the order of modules', () => {
    const catalog = makeCatalog({ a: ['z', 'b'], 'a-b': ['x'], B: ['c'] });
    const policy = declaring({
      main: [
        { module: 'a', tools: ['z', 'b'] },
        { module: 'a-b', tools: 'all' },
      ],
    });
    expect(idsOf(buildToolkit(catalog, OPEN, as('main')))).toEqual(['B.c', 'a-b.x', 'a.b', 'a.z']);
    expect(idsOf(buildToolkit(catalog, policy, as('main')))).toEqual(['a-b.x', 'a.b', 'a.z']);
  });

  it('explains each tool that is missing, in the order in which identify refuses', () => {
    const policy = declaring(
      {
        main: [
          { module: 'notes', tools: ['edit', 'purge', 'gone'] },
          { module: 'files', tools: 'all' },
          { module: 'absent', tools: 'all' },
          { module: 'bare', tools: 'all' },
        ],
        boss: [
          { module: 'notes', tools: 'all' },
          { module: 'files', tools: ['read'] },
        ],
      },
      {
        permissions: { '*': { allow: ['*'] }, 'notes.edit': { deny: ['alice'] } },
        paused: { tools: ['notes.search'] },
      },
    );
    const expected: MissingTool[] = [
      { tool: 'absent.*', reason: 'module-absent' },
      { tool: 'bare.*', reason: 'module-empty' },
      { tool: 'files.write', reason: 'not-selected', delegator: 'boss' },
      { tool: 'notes.edit', reason: 'denied' },
      { tool: 'notes.gone', reason: 'unknown-name' },
      { tool: 'notes.purge', reason: 'no-permission' },
      { tool: 'notes.search', reason: 'paused' },
    ];
    const toolkit = buildToolkit(CATALOG, policy, as('main', 'boss'));
    expect(idsOf(toolkit)).toEqual(['files.read']);
    expect(toolkit.missing).toEqual(expected);
  });

  it('says of a selection whose names all are unknown that nothing matched', () => {
    const policy = declaring({ main: [{ module: 'files', tools: ['search', 'edit'] }] });
    const toolkit = buildToolkit(CATALOG, policy, as('main'));
    expect(toolkit.tools).toEqual([]);
    expect(toolkit.missing.filter(({ reason }) => reason !== 'not-selected')).toEqual([
      { tool: 'files.*', reason: 'nothing-matched' },
      { tool: 'files.edit', reason: 'unknown-name' },
      { tool: 'files.search', reason: 'unknown-name' },
    ]);
  });

  it('an agent that is not declared has no tools and gets that reason', () => {
    const { tools, missing } = buildToolkit(CATALOG, declaring({}), as('main'));
    expect(tools).toEqual([]);
    expect(new Set(missing.map(({ reason }) => reason))).toEqual(new Set(['agent-unknown']));
  });

  it('computes the missing tools at the first read, and only once', () => {
    const policy = declaring({ main: [] });
    let asked = 0;
    const counting: Policy = {
      ...policy,
      get permissions() {
        asked += 1;
        return OPEN.permissions;
      },
    };
    const toolkit = buildToolkit(CATALOG, counting, as('main'));
    expect(asked).toBe(0);
    expect(toolkit.missing).toBe(toolkit.missing);
    expect(toolkit.missing).toHaveLength(5);
  });

  it('cannot be changed, and neither can what agents share', () => {
    const toolkit = buildToolkit(CATALOG, OPEN, as('main'));
    expect(() => (toolkit.tools as unknown[]).pop()).toThrow(TypeError);
    expect(() => Object.assign(toolkit, { tools: [] })).toThrow(TypeError);
    expect(() => Object.assign(toolkit.tools[0]!, { tool: undefined })).toThrow(TypeError);
    expect(() => (toolkit.missing as unknown[]).pop()).toThrow(TypeError);
  });
});

const NAMES = ['a', 'b', 'a-b', 'c'] as const;
const TOOLS = ['x', 'y', 'z!', 'w'] as const;
const AGENTS = ['main', 'member', 'step'] as const;
const shapes: fc.Arbitrary<CatalogShape> = fc.dictionary(
  fc.constantFrom(...NAMES),
  fc.uniqueArray(fc.constantFrom(...TOOLS)),
);
const taken = fc.oneof(fc.constant('all' as const), fc.uniqueArray(fc.constantFrom('x', 'y', 'z', 'w', 'gone')));
const selection: fc.Arbitrary<SelectionInput> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ module: fc.constantFrom(...NAMES, 'gone'), tools: taken }) },
    { weight: 1, arbitrary: fc.record({ module: fc.constant('*'), tools: taken }) },
  ),
  { maxLength: 4 },
);
const pattern = fc.oneof(
  fc.constantFrom('*', 'a.*', 'a-b.*', 'b.*'),
  fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom('x', 'y', 'z', 'w')).map(([module, tool]) => `${module}.${tool}`),
);
const who = fc.uniqueArray(fc.constantFrom('*', 'alice', 'bob', 'role:staff', 'default/*'), { maxLength: 2 });
const policies: fc.Arbitrary<Policy> = fc
  .record({
    permissions: fc.dictionary(
      pattern,
      fc.record({ allow: who, deny: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, who) }),
    ),
    paused: fc.record({
      tools: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.array(pattern, { maxLength: 2 })),
      agents: fc.oneof({ weight: 5, arbitrary: fc.constant([]) }, fc.subarray([...AGENTS])),
    }),
    agents: fc.option(fc.dictionary(fc.constantFrom(...AGENTS), selection), { nil: undefined }),
    open: fc.boolean(),
  })
  .map(({ permissions, paused, agents, open }) => {
    const roles = { staff: ['alice'] };
    const policy = { roles, permissions: { ...permissions, ...(open ? OPEN.permissions : {}) }, paused };
    return agents === undefined ? policy : declaring(agents, policy);
  });
const identities = fc
  .record({
    agent: fc.constantFrom(...AGENTS, 'stranger'),
    delegators: fc.array(fc.constantFrom(...AGENTS), { maxLength: 2 }),
    subject: fc.constantFrom('alice', 'bob'),
  })
  .map((fields): Identity => ({ tenant: 'default', ...fields }));

describe('every toolkit', () => {
  it('is the intersection of selections and permissions, independent of earlier toolkits', () => {
    fc.assert(
      fc.property(shapes, policies, fc.array(identities, { minLength: 1, maxLength: 6 }), (shape, policy, resolved) => {
        const catalog = makeCatalog(shape);
        const before = canonicalJson(catalog);
        const all = catalog.modules.flatMap(({ tools }) => tools);
        for (const identity of resolved) {
          const toolkit = buildToolkit(catalog, policy, identity);
          const expected = all.filter(
            (tool) =>
              checkSelection(policy, tool.id, identity).selected && checkPermission(policy, tool, identity).allowed,
          );
          expect(idsOf(toolkit)).toEqual(expected.map(({ id }) => id).sort(compareText));
          const lacking = new Set(toolkit.missing.map(({ tool }) => tool));
          expect(all.every(({ id }) => lacking.has(id) !== expected.some((tool) => tool.id === id))).toBe(true);
        }
        expect(canonicalJson(catalog)).toBe(before);
      }),
      { numRuns: 1000 },
    );
  });
});
