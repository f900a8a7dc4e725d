import type { Mutant } from '../mutant.ts';

const CACHE = 'src/client/resolution-cache.ts';
const CACHE_TEST = 'src/client/resolution-cache.test.ts';

/** Bugs against the requirements in requirements/rows-selection.ts, whose ids begin with C: which agent has which tools. */
export const ROWS_SELECTION: readonly Mutant[] = [
  {
    id: 'odd-switches-select',
    bug: 'A trigger whose switch is neither true nor false is selected.',
    file: 'src/domain/identity/selection.ts',
    find: 'tools[name] === true',
    replace: 'tools[name] !== false',
    caughtBy: [{ file: 'src/domain/identity/selection.test.ts', title: 'takes no tool whose switch is ' }],
  },
  {
    id: 'nothing-selected-means-everything',
    bug: 'A selection whose triggers are all off gives the whole module.',
    file: 'src/domain/identity/selection.ts',
    find: "if (tools === 'all') return 'all';",
    replace: "if (tools === 'all' || Object.values(tools).every((on) => on === false)) return 'all';",
    caughtBy: [{ file: 'src/domain/identity/selection-cases.test.ts', title: 'a selection with' }],
  },
  {
    id: 'shared-toolkits-can-be-changed',
    bug: 'What is shared by agents is not frozen, so that one of them can trim it for all.',
    file: CACHE,
    find: '      deepFreeze(value);\n',
    replace: '',
    caughtBy: [{ file: CACHE_TEST, title: 'freezes values all the way down' }],
  },
  {
    id: 'toolkits-are-kept-per-subject',
    bug: 'Toolkits are kept without the name of the agent: whoever asks first decides for the others.',
    file: 'src/client/session-toolkits.ts',
    find: 'JSON.stringify([tenant, subject, agent, delegators])',
    replace: 'JSON.stringify([tenant, subject, delegators, agent.length > 0])',
    caughtBy: [
      {
        file: 'test/plane/agents.test.ts',
        title: 'are shown exactly what each of them selected, in every order, all at once, a thousand times',
      },
    ],
  },
  {
    id: 'peers-take-from-each-other',
    bug: 'A tool that any agent left out is taken from all of them.',
    file: 'src/domain/identity/agent.ts',
    find: 'if (!selects(declaration.selection, toolId))',
    replace: 'if (Object.values(policy.agents).some((peer) => !selects(peer.selection, toolId)))',
    caughtBy: [
      { file: 'src/domain/identity/agent.test.ts', title: 'peers of one module do not narrow or widen each other' },
    ],
  },
  {
    id: 'everybody-builds-alone',
    bug: 'Everybody who asks for a toolkit that is being worked out works it out again.',
    file: CACHE,
    find: 'this.#joinable.get(key) ?? this.#start(key, build)',
    replace: 'this.#start(key, build)',
    caughtBy: [{ file: CACHE_TEST, title: 'builds a key once for all who ask while it is being built' }],
  },
  {
    id: 'outdated-builds-are-kept',
    bug: 'A toolkit that was invalidated while it was worked out is kept all the same.',
    file: CACHE,
    find: 'this.#joinable.get(flight.key) !== flight || ',
    replace: '',
    caughtBy: [{ file: CACHE_TEST, title: 'an invalidation while a value is built' }],
  },
];
