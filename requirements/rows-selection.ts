import { onBothStores, test, type Requirement } from './requirement.ts';

/** Requirements from a tool selection per agent: what it did has to hold here. */
export const ROWS_SELECTION: readonly Requirement[] = [
  {
    id: 'C1',
    says: 'Agents select tools by module and name, or by setup_id and triggers. Nothing selected means nothing.',
    tests: [
      test('src/domain/identity/selection-cases.test.ts', 'a selection with'),
      test('src/domain/identity/selection.test.ts', 'in the one form that is stored'),
      test('src/domain/identity/selection.test.ts', 'takes no tool whose switch is'),
    ],
    mutants: ['odd-switches-select', 'nothing-selected-means-everything'],
  },
  {
    id: 'C2',
    says: 'What is kept of a module is whole, frozen and shared. Narrowing it for one agent changes nothing for another.',
    tests: [
      test('src/client/resolution-cache.test.ts', 'freezes values all the way down'),
      test('src/domain/tool/toolkit.test.ts', 'cannot be changed, and neither can what agents share'),
      test(
        'src/domain/tool/toolkit.test.ts',
        'is the intersection of selections and permissions, independent of earlier toolkits',
      ),
      test('src/client/session-toolkits.test.ts', 'and what is shared never changes'),
    ],
    mutants: ['shared-toolkits-can-be-changed'],
  },
  {
    id: 'C3',
    says: 'Each agent gets exactly its own toolkit, in any order and all at once.',
    tests: [
      test('test/plane/agents.test.ts', 'are shown exactly what each of them selected, in every order, all at once'),
      test('src/domain/identity/agent.test.ts', 'peers of one module do not narrow or widen each other'),
    ],
    mutants: ['toolkits-are-kept-per-subject', 'peers-take-from-each-other'],
  },
  {
    id: 'C4',
    says: 'Main agent, members and workflow steps are peers with selections of their own. Only delegation narrows.',
    tests: [
      test('src/stages/identify/identify.test.ts', 'acts for one that did not select it'),
      test('src/domain/tool/toolkit.test.ts', 'main without edit does not take it from the member'),
      test('src/domain/identity/agent.test.ts', 'an agent holds at most what those it acts for hold'),
      test('test/plane/agents.test.ts', 'delegate at most what they hold'),
    ],
    mutants: ['delegation-widens'],
  },
  {
    id: 'C5',
    says: 'A toolkit is worked out once for all who ask. What is missing from it is told to the caller with its reason.',
    tests: [
      test('src/client/resolution-cache.test.ts', 'builds a key once for all who ask while it is being built'),
      test('src/client/resolution-cache.test.ts', 'gives a build up after its time'),
      test('src/domain/tool/toolkit.test.ts', 'explains each tool that is missing'),
      test('src/domain/tool/toolkit.test.ts', 'says of a selection whose names all are unknown that nothing matched'),
    ],
    mutants: ['everybody-builds-alone'],
  },
  {
    id: 'C6',
    says: 'Selections are stored, toolkits are not. A change reaches who asks next, also one that comes while a toolkit is worked out.',
    tests: [
      test('src/client/resolution-cache.test.ts', 'begins empty and builds a key once'),
      test('src/client/resolution-cache.test.ts', 'an invalidation while a value is built'),
      test(
        'src/client/resolution-cache.test.ts',
        'an invalidation forgets what was made from that module, and only that',
      ),
      test('test/plane/agents.test.ts', 'are shown a change of their selection with the next question'),
    ],
    mutants: ['outdated-builds-are-kept'],
  },
  {
    id: 'C7',
    says: 'What an agent did not select is refused when it is called, not only hidden.',
    tests: [
      test('src/stages/identify/identify.test.ts', 'refuses a tool that all subjects may use to an agent that'),
      test(
        'test/plane/agents.test.ts',
        'run exactly what each of them selected, all at once, and are refused the rest',
      ),
      ...onBothStores('writePolicy stores the whole record under the next version'),
    ],
    mutants: ['selection-shown-but-not-enforced'],
  },
];
