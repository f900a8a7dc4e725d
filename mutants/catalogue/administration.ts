import type { Mutant } from '../mutant.ts';

/** Bugs against the rows of requirements/rows-administration.ts: who changed what is in the audit. */
export const ADMINISTRATION: readonly Mutant[] = [
  {
    id: 'audit-does-not-name-the-hook',
    bug: 'The record of a call that a hook blocked does not say which hook it was.',
    file: 'src/stages/settle/encode-audit.ts',
    find: '    ...(gate.hook === undefined ? {} : { hook: gate.hook }),\n',
    replace: '',
    caughtBy: [
      { file: 'src/stages/settle/encode-audit.test.ts', title: 'names the hook that refused a call' },
      { file: 'test/plane/gate-hooks.test.ts', title: 'that fail block with one sentence' },
    ],
  },
];
