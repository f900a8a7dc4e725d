import { describe, expect, it } from 'vitest';
import { makeCatalog, type CatalogShape } from '../../../test/support/sample-catalog.ts';
import { normaliseSelection, type SelectionInput } from './selection.ts';
import { buildToolkit } from '../tool/toolkit.ts';

interface Case {
  readonly declared: SelectionInput;
  /** Default: a module `notes` with `edit` and `search`. */
  readonly catalog?: CatalogShape;
  readonly holds: readonly string[];
  /** The entries of `Toolkit.missing` about the selection itself, as `tool reason`. */
  readonly told?: readonly string[];
  readonly warned?: { readonly duplicates?: readonly string[]; readonly blanks?: number };
}

/** Selections that can be read in two ways, such as an empty list (no tools, or all?), with the tools that they select here. */
const CASES: Readonly<Record<string, Case>> = {
  'no triggers at all: none': { declared: [{ setup_id: 'notes', triggers: {} }], holds: [] },
  'all triggers false: none': {
    declared: [{ setup_id: 'notes', triggers: { edit: false, search: false } }],
    holds: [],
  },
  'an empty list: none': { declared: [{ module: 'notes', tools: [] }], holds: [] },
  'a trigger that the map does not have: off': {
    declared: [{ setup_id: 'notes', triggers: { edit: true } }],
    holds: ['notes.edit'],
  },
  'a tool that came with a deploy, map: off': {
    declared: [{ setup_id: 'notes', triggers: { edit: true, search: true } }],
    catalog: { notes: ['edit', 'search', 'remove'] },
    holds: ['notes.edit', 'notes.search'],
  },
  'a tool that came with a deploy, all false: off': {
    declared: [{ setup_id: 'notes', triggers: { edit: false, search: false } }],
    catalog: { notes: ['edit', 'search', 'remove'] },
    holds: [],
  },
  'a tool that came with a deploy, all: on': {
    declared: [{ module: 'notes', tools: 'all' }],
    catalog: { notes: ['edit', 'search', 'remove'] },
    holds: ['notes.edit', 'notes.remove', 'notes.search'],
  },
  'nothing said about a module: none': { declared: [], holds: [] },
  'an unknown name beside known ones: those are kept, it is told': {
    declared: [{ module: 'notes', tools: ['search', 'gone'] }],
    holds: ['notes.search'],
    told: ['notes.gone unknown-name'],
  },
  'only unknown names: none, and told that nothing matched': {
    declared: [{ setup_id: 'notes', triggers: { gone: true, lost: true } }],
    holds: [],
    told: ['notes.* nothing-matched', 'notes.gone unknown-name', 'notes.lost unknown-name'],
  },
  'a module without tools: none, and told': {
    declared: [{ module: 'notes', tools: 'all' }],
    catalog: { notes: [] },
    holds: [],
    told: ['notes.* module-empty'],
  },
  'a module that is not there: none, told, and the others are kept': {
    declared: [
      { setup_id: 'gone', triggers: { edit: true } },
      { module: 'notes', tools: ['edit'] },
    ],
    holds: ['notes.edit'],
    told: ['gone.* module-absent'],
  },
  'a row without an id: left out, counted, the others are kept': {
    declared: [
      { setup_id: '', triggers: { edit: true } },
      { setup_id: 'notes', triggers: { edit: true } },
    ],
    holds: ['notes.edit'],
    warned: { blanks: 1 },
  },
  'a module twice: both, and told': {
    declared: [
      { setup_id: 'notes', triggers: { edit: true, search: false } },
      { setup_id: 'notes', triggers: { search: true } },
    ],
    holds: ['notes.edit', 'notes.search'],
    warned: { duplicates: ['notes'] },
  },
  'a list for every module: none, and told': {
    declared: [{ module: '*', tools: ['edit'] }],
    holds: [],
    told: ['*.* module-absent'],
  },
};

describe('a selection with', () => {
  it.each(Object.entries(CASES))('%s', (_what, { declared, catalog, holds, told = [], warned = {} }) => {
    const { selection, duplicates, blanks } = normaliseSelection(declared);
    expect({ duplicates, blanks }).toEqual({ duplicates: [], blanks: 0, ...warned });
    const agents = { main: { selection }, peer: { selection: [{ module: '*', tools: 'all' }] } } as const;
    const policy = { roles: {}, permissions: { '*': { allow: ['*'] } }, paused: {}, agents };
    const identity = { tenant: 'default', subject: 'alice', agent: 'main' };
    const toolkit = buildToolkit(makeCatalog(catalog ?? { notes: ['edit', 'search'] }), policy, identity);
    expect(toolkit.tools.map(({ tool }) => tool.id)).toEqual(holds);
    const problems = toolkit.missing.filter(({ reason }) => reason !== 'not-selected');
    expect(problems.map(({ tool, reason }) => `${tool} ${reason}`)).toEqual(told);
  });
});
