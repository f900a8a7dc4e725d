import { test, type Requirement } from './requirement.ts';

/** Who changed what is in the audit, and which hook refused a call. */
export const ROWS_ADMINISTRATION: readonly Requirement[] = [
  {
    id: 'ADM1',
    says: 'The audit record of a call that a hook blocked, failed on or timed out on names the hook. The model is not told.',
    tests: [
      test('src/stages/settle/encode-audit.test.ts', 'names the hook that refused a call'),
      test('test/plane/gate-hooks.test.ts', 'block with their reason'),
      test('test/plane/gate-hooks.test.ts', 'that fail block with one sentence'),
      test('src/gateway/api/call-timeline.test.ts', 'names the hook'),
      test('src/gate/wrap/gate-events.test.ts', 'of a call that a failing hook stops'),
    ],
    mutants: ['audit-does-not-name-the-hook'],
  },
];
