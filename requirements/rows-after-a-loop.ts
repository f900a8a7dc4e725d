import { onBothStores, test, type Requirement } from './requirement.ts';

const AFTER = 'test/gateway/after-a-loop.test.ts';
const SESSIONS = 'src/gateway/agent-sessions.test.ts';

/** Requirements for the time after loop detection ended a run. */
export const ROWS_AFTER_A_LOOP: readonly Requirement[] = [
  {
    id: 'AL1',
    says: 'Every call in a run that a loop ended is answered with the advice: blocked, not run, not a matter of credentials. The refusal leaves nothing behind, and a key of before still gets its own answer.',
    tests: [
      ...onBothStores(
        'a call in a run that a loop ended gets that reason, with the rest of the time; other runs are unknown',
      ),
      ...onBothStores('refused calls neither prolong the rest nor leave anything behind'),
      ...onBothStores('a key of before is still answered in a run that a loop ended'),
      ...onBothStores('calls that were queued when a loop ended their run do not start, and say why'),
      ...onBothStores('a session remembers a bounded number of ended runs; earlier ones are unknown'),
      ...onBothStores('a run that a loop ended has its whole rest, however many others end after it'),
      test(AFTER, 'over HTTP every call in the ended run is answered with the advice'),
      test(AFTER, 'is no matter of credentials'),
      test(AFTER, 'answers every call in the ended run with the advice'),
      test('src/stages/settle/attempt-of.test.ts', 'ends the run only when the loop was the reason'),
    ],
    mutants: [
      'ended-runs-are-unknown-embedded',
      'ended-runs-are-unknown-redis',
      'keys-of-before-are-blocked-embedded',
      'keys-of-before-are-blocked-redis',
      'ended-runs-fill-the-session',
      'ended-runs-fill-the-session-redis',
      'many-ended-runs-shorten-the-rest',
      'many-ended-runs-shorten-the-rest-redis',
      'queued-calls-end-the-next-run',
      'unknown-runs-are-wrong-credentials',
    ],
  },
  {
    id: 'AL2',
    says: 'The next conversation has a new run on every surface. One that goes on gets it ten minutes after its run was ended, by store time, however often it tried in between; and not before.',
    tests: [
      test(AFTER, 'over HTTP the token gets its next run when the rest is over'),
      test(AFTER, 'over HTTP a named run is replaced like the unnamed one'),
      test(AFTER, 'gives the same client its next run when the rest is over'),
      test(AFTER, 'on standard input and output gets its next run'),
      test(
        AFTER,
        'the command line gets the same answer in the run of a session file; without one it has a session of its own',
      ),
      test(AFTER, 'a run that was ended by hand is replaced at once'),
      test(SESSIONS, 'only when its rest is over'),
      test('src/gate/wrap/gate-loops.test.ts', 'which calls in between do not prolong'),
    ],
    mutants: [
      'ended-runs-are-replaced-at-once',
      'ended-runs-are-never-replaced',
      'mcp-calls-stay-in-ended-runs',
      'refused-calls-prolong-the-rest-of-a-gate',
    ],
  },
  {
    id: 'AL3',
    says: 'An ended run makes later runs of its session stricter for an hour, and then no longer, also those that were opened in between.',
    tests: [
      ...onBothStores(
        'the next runs get the times when runs were ended, the latest ones only, and an open run does not',
      ),
      ...onBothStores('a call that is queued again gets the same facts of ended runs and of its cost'),
      test('src/gate/loop/detect-loop.test.ts', 'is as long as ever an hour after the runs were ended'),
      test(AFTER, 'the session is strict for a while, and then as patient as before'),
    ],
    mutants: ['next-runs-are-not-stricter', 'strictness-never-lapses'],
  },
];
