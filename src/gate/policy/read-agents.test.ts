import { describe, expect, it } from 'vitest';
import { PlaneError } from '../../domain/errors/errors.ts';
import { nearNames } from '../../base/near-names.ts';
import { readAgents } from './read-agents.ts';

function problemsOf(input: unknown): string {
  try {
    readAgents(input, nearNames);
  } catch (error) {
    if (error instanceof PlaneError && error.code === 'POLICY_INVALID') return error.message;
    throw error;
  }
  return 'none';
}

const NOTES = [{ module: 'notes', tools: ['add'] }];

describe('readAgents', () => {
  it('takes selections, declarations and removals, in the one form that is stored', () => {
    const read = readAgents(
      {
        main: {
          description: 'Talks to people.',
          selection: [{ setup_id: 'notes', triggers: { list: true, add: true } }],
        },
        helper: [{ module: 'notes', tools: { add: true, list: false } }],
        everything: [{ module: '*', tools: 'all' }],
        nothing: [],
        gone: null,
      },
      nearNames,
    );
    expect(read).toEqual({
      declared: {
        main: { description: 'Talks to people.', selection: [{ module: 'notes', tools: ['add', 'list'] }] },
        helper: { selection: NOTES },
        everything: { selection: [{ module: '*', tools: 'all' }] },
        nothing: { selection: [] },
      },
      removed: ['gone'],
      warnings: [],
    });
  });

  it('unites two entries for one module, and says so', () => {
    const read = readAgents({ main: [...NOTES, { module: 'notes', tools: ['list'] }] }, nearNames);
    expect(read.declared['main']).toEqual({ selection: [{ module: 'notes', tools: ['add', 'list'] }] });
    expect(read.warnings).toEqual(['agents.main has several entries for module notes; together they select add, list']);
  });

  it.each<[string[] | 'all', string]>([
    ['all', 'all of its tools'],
    [[], 'none of its tools'],
    [['a', 'b', 'c', 'd', 'e', 'f'], '6 of its tools'],
  ])('says what two entries for one module come to: %j and none', (tools, select) => {
    const both = [
      { module: 'vault', tools },
      { module: 'vault', tools: [] },
    ];
    const { warnings } = readAgents({ main: both }, nearNames);
    expect(warnings).toEqual([`agents.main has several entries for module vault; together they select ${select}`]);
  });

  it('keeps nothing of what it was given: a later change of it changes no declaration', () => {
    const tools = ['add'];
    const read = readAgents({ main: [{ module: 'notes', tools }] }, nearNames);
    tools.push('remove');
    expect(read.declared['main']!.selection).toEqual(NOTES);
  });

  it.each([
    ['no object', [], 'agents: expected an object of agents by name'],
    ['nothing', undefined, 'agents: expected an object of agents by name'],
    ['a map', new Map([['main', NOTES]]), 'agents: expected an object of agents by name'],
    ['an instance of a class', new (class Agents {})(), 'agents: expected an object of agents by name'],
    [
      'a selection that is undefined',
      { main: undefined },
      'agents.main: expected a selection, a declaration with one, or null',
    ],
    ['a selection that is text', { main: 'all' }, 'agents.main: expected a selection, a declaration with one, or null'],
    ['a selection that is a set', { main: new Set(['notes']) }, 'agents.main: expected a selection'],
    [
      'an entry of neither form',
      { main: [{ module: 'notes' }] },
      'agents.main: selection.0: expected module and tools, or setup_id',
    ],
    [
      'a mistyped key',
      { main: [{ module: 'notes', tool: 'all' }] },
      'agents.main: unknown key "tool" in selection.0, did you mean "tools"?',
    ],
    [
      'a mistyped key of a declaration',
      { main: { selektion: [] } },
      'unknown key "selektion", did you mean "selection"?',
    ],
    [
      'everything with a list',
      { main: [{ module: '*', tools: ['add'] }] },
      'module * takes all tools: write tools: all',
    ],
    ['a name no tool can have', { main: [{ module: 'notes', tools: ['no/tool'] }] }, 'agents.main: selection.0.tools'],
    [
      'a name no module can have',
      { main: [{ module: 'no/module', tools: 'all' }] },
      'selection.0.module: expected the id of a module',
    ],
    ['a switch that is no truth', { main: [{ module: 'notes', tools: { add: 1 } }] }, 'agents.main: selection.0.tools'],
    [
      'half a character',
      { main: { description: '\ud800', selection: [] } },
      'agents.main: description: expected text without halves',
    ],
    ['an empty name', { '': [] }, 'agents.: expected text of 1 to 256 characters'],
    [
      'a name with a control character',
      { 'a\u0007': [] },
      'expected text of 1 to 256 characters without control characters',
    ],
    ['a name that objects have', { constructor: [] }, 'agents.constructor: expected another name'],
    ['a name that is no name', JSON.parse('{"__proto__": []}'), 'agents.__proto__: expected another name'],
  ])('refuses %s', (_what, input, problem) => {
    expect(problemsOf(input)).toContain(problem);
  });

  it.each([
    ['an empty id', { module: '', tools: 'all' }],
    ['an id of spaces', { module: '  ', tools: ['add'] }],
    ['no value', { module: null, tools: { add: true } }],
    ['no id at all', { tools: 'all' }],
    ['no setup', { setup_id: '', triggers: { add: true } }],
    ['no setup at all', { triggers: { add: true } }],
  ])('leaves out an entry with %s, and says so', (_what, blank) => {
    const { declared, warnings } = readAgents({ main: [blank, ...NOTES], other: [blank, blank] }, nearNames);
    expect(declared).toEqual({
      main: readAgents({ main: NOTES }, nearNames).declared['main'],
      other: { selection: [] },
    });
    expect(warnings).toEqual([
      'agents.main has an entry without a module id; it is left out',
      'agents.other has 2 entries without a module id; they are left out',
    ]);
  });

  it.each([
    ['nothing in it', {}],
    ['a blank id and nothing selected', { module: '' }],
    ['two forms', { module: '', triggers: {} }],
    ['names that no tool can have', { module: '', tools: ['no/tool'] }],
  ])('refuses an entry with %s', (_what, entry) => {
    expect(problemsOf({ main: [entry] })).toContain('agents.main');
  });

  it('names every problem of every agent at once, and never a value', () => {
    const found = problemsOf({ a: [{ module: 'notes', tools: ['S3CRET!'] }], b: { selektion: [] }, good: NOTES });
    expect(found).toContain('agents.a');
    expect(found).toContain('agents.b');
    expect(found).not.toContain('S3CRET');
  });
});
