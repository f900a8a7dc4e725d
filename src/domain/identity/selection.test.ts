import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normaliseSelection, selects, takenFrom, type Selection, type SelectionInput } from './selection.ts';

const one = (tools: 'all' | readonly string[] | Record<string, boolean>): SelectionInput => [
  { module: 'notes', tools },
];

describe('normaliseSelection', () => {
  it.each<[string, SelectionInput, Selection]>([
    ['all', one('all'), [{ module: 'notes', tools: 'all' }]],
    ['a list', one(['search', 'edit', 'search']), [{ module: 'notes', tools: ['edit', 'search'] }]],
    ['an empty list', one([]), [{ module: 'notes', tools: [] }]],
    ['a map', one({ search: true, edit: false }), [{ module: 'notes', tools: ['search'] }]],
    ['an empty map', one({}), [{ module: 'notes', tools: [] }]],
    ['a map of falses', one({ search: false, edit: false }), [{ module: 'notes', tools: [] }]],
    [
      'a setup with triggers',
      [{ setup_id: 'notes', triggers: { edit: true, search: false } }],
      [{ module: 'notes', tools: ['edit'] }],
    ],
  ])('writes %s in the one form that is stored', (_what, input, selection) => {
    expect(normaliseSelection(input)).toEqual({ selection, duplicates: [], blanks: 0 });
  });

  it.each(['true', 1, 'all', {}, null])('takes no tool whose switch is %j', (value) => {
    const { selection } = normaliseSelection([{ module: 'notes', tools: { edit: value as boolean } }]);
    expect(selection).toEqual([{ module: 'notes', tools: [] }]);
  });

  it('unites entries of one module and says which', () => {
    const input: SelectionInput = [
      { module: 'notes', tools: ['search'] },
      { module: 'files', tools: 'all' },
      { setup_id: 'notes', triggers: { edit: true } },
      { module: 'files', tools: [] },
    ];
    expect(normaliseSelection(input)).toEqual({
      selection: [
        { module: 'files', tools: 'all' },
        { module: 'notes', tools: ['edit', 'search'] },
      ],
      duplicates: ['files', 'notes'],
      blanks: 0,
    });
  });

  it('leaves out entries without a module id and counts them', () => {
    const input: SelectionInput = [
      { module: '', tools: 'all' },
      { setup_id: '  ', triggers: { edit: true } },
    ];
    expect(normaliseSelection(input)).toEqual({ selection: [], duplicates: [], blanks: 2 });
  });

  it('gives one result for any order of entries and names', () => {
    const entry = fc.record({
      module: fc.constantFrom('a', 'b', 'a-b'),
      tools: fc.oneof(fc.constant('all' as const), fc.uniqueArray(fc.constantFrom('x', 'y', 'z'))),
    });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 6 }), (entries) => {
        const turned = entries.toReversed().map(({ module, tools }) => ({
          module,
          tools: tools === 'all' ? tools : tools.toReversed(),
        }));
        expect(normaliseSelection(turned)).toEqual(normaliseSelection(entries));
      }),
    );
  });
});

describe('selects', () => {
  it.each<[string, Selection, string, boolean]>([
    ['a tool of a module taken whole', [{ module: 'notes', tools: 'all' }], 'notes.add', true],
    ['a tool on the list', [{ module: 'notes', tools: ['add'] }], 'notes.add', true],
    ['a tool not on the list', [{ module: 'notes', tools: ['add'] }], 'notes.edit', false],
    ['a tool of an empty list', [{ module: 'notes', tools: [] }], 'notes.add', false],
    ['a tool of another module', [{ module: 'notes', tools: 'all' }], 'notesbook.add', false],
    ['any tool of everything', [{ module: '*', tools: 'all' }], 'notes.add', true],
    ['a tool when everything has an empty list', [{ module: '*', tools: [] }], 'notes.add', false],
    ['a tool when everything has a list', [{ module: '*', tools: ['add'] }], 'notes.add', false],
    ['a name that is no tool id', [{ module: 'notes', tools: ['add'] }], 'notes', false],
    ['a name every object has', [{ module: 'notes', tools: ['add'] }], 'notes.constructor', false],
    ['a tool of an empty selection', [], 'notes.add', false],
  ])('answers for %s', (_what, selection, tool, answer) => {
    expect(selects(selection, tool)).toBe(answer);
  });

  it('unites entries that were stored twice for one module', () => {
    const stored: Selection = [
      { module: 'notes', tools: ['add'] },
      { module: 'notes', tools: ['edit'] },
    ];
    expect(['add', 'edit', 'list'].map((name) => selects(stored, `notes.${name}`))).toEqual([true, true, false]);
    expect(takenFrom(stored, 'notes')).toEqual(new Set(['add', 'edit']));
  });
});
