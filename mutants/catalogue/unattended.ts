import type { Mutant } from '../mutant.ts';

const RULES = 'test/plane/gate-rules.test.ts';
const OVER_HTTP = 'test/gateway/requesters.test.ts';
const IN_SESSIONS = 'in an unattended session, in its delegates and in an unattended run';
const NOBODY_ASKED = 'nobody is asked by an unattended token, session or run';

/** Bugs against the rows of requirements/rows-unattended.ts. */
export const UNATTENDED: readonly Mutant[] = [
  {
    id: 'unattended-sessions-ask',
    bug: 'A person is asked about calls of a session that was opened unattended.',
    file: 'src/domain/unattended.ts',
    find: 'if (identity.unattended === true) return',
    replace: 'if (identity.subject === undefined) return',
    caughtBy: [
      { file: RULES, title: IN_SESSIONS },
      { file: 'src/domain/unattended.test.ts', title: 'names the session, and the run' },
    ],
  },
  {
    id: 'unattended-runs-ask',
    bug: 'A person is asked about calls of a run that was opened unattended.',
    file: 'src/stages/gate/ask-approval.ts',
    find: '{ identity: call.identity, run: delivery.run }',
    replace: "{ identity: call.identity, run: '' }",
    caughtBy: [{ file: RULES, title: IN_SESSIONS }],
  },
  {
    id: 'delegates-are-attended',
    bug: 'A delegate of an unattended session can ask a person again.',
    file: 'src/client/open-session.ts',
    find: 'const isUnattended = parent.identity.unattended === true || ',
    replace: 'const isUnattended = ',
    caughtBy: [
      { file: 'src/client/open-session.test.ts', title: 'an unattended session has unattended delegates' },
      { file: RULES, title: IN_SESSIONS },
    ],
  },
  {
    id: 'requests-make-sessions-attended',
    bug: 'The bearer of an unattended token opens an attended session by saying so.',
    file: 'src/gateway/open-for-token.ts',
    find: '{ ...options, unattended: true }',
    replace: '{ unattended: true, ...options }',
    caughtBy: [{ file: OVER_HTTP, title: NOBODY_ASKED }],
  },
  {
    id: 'named-unattended-runs-are-attended',
    bug: 'A run whose name says that it is unattended is opened like any other.',
    file: 'src/gateway/agent-sessions.ts',
    find: 'const unattended = isUnattendedRun(name);',
    replace: 'const unattended = false;',
    caughtBy: [
      { file: 'src/gateway/agent-sessions.test.ts', title: 'an unattended run for a name that says so' },
      { file: OVER_HTTP, title: NOBODY_ASKED },
    ],
  },
  {
    id: 'unattended-runs-of-a-gate-open-attended-ones',
    bug: 'A run that an unattended run of a gate opens asks a person.',
    file: 'src/gate/wrap/create-gate.ts',
    find: 'run.unattended === true ? openRun({ ...next, unattended: true }) : openRun(next)',
    replace: 'openRun(next)',
    caughtBy: [
      { file: 'src/gate/wrap/gate-approvals.test.ts', title: 'is not asked for in a run that was opened unattended' },
    ],
  },
  {
    id: 'explain-promises-a-person',
    bug: 'explain says that a person would be asked where none is.',
    file: 'src/domain/explain-call.ts',
    find: "const passes = verdict !== 'deny' && !isDenied;",
    replace: "const passes = verdict !== 'deny';",
    caughtBy: [{ file: 'src/domain/explain-call.test.ts', title: 'denies what asks a person where no person watches' }],
  },
];
