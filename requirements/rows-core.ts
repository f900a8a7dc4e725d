import { onBothStores, test, type Requirement } from './requirement.ts';

const PERMIT = 'src/start-permit.test.ts';
const LATE = 'test/plane/late-starts.test.ts';
const LOST = 'test/embedded/lost-file.test.ts';
const CHAOS_CHECKS = 'test/chaos/checks.test.ts';
const ROLL_BACK = 'test/plane/roll-back.test.ts';

/** Requirements: what holds between a verdict and a start, when a module is rolled back, and when a file or a clock has changed. */
export const ROWS_CORE: readonly Requirement[] = [
  {
    id: 'CO1',
    says: 'A tool is entered only on a word of the store that is at most 250 ms old: after a slow hook, schema, secret or process, and after a stop of the worker, session, lease, cancellation, permission, selection and rules are asked for again.',
    tests: [
      test(PERMIT, 'is valid without a trip for as long as a snapshot is trusted'),
      test(PERMIT, 'ends when'),
      test(PERMIT, 'asks no person after the start mark: the call ends as stale, and a repeat is asked about'),
      test(PERMIT, 'asks again when an answer was too old on arrival'),
      test(LATE, 'held by a slow hook does not start when'),
      test(LATE, 'held by a slow hook starts as usual when nothing was taken away'),
      test(LATE, 'held by a slow hook is asked about when a rule wants that by now'),
      test(LATE, 'whose worker stalls behind the start mark does not start when'),
      test(LATE, 'whose worker stalls twice, past its lease'),
      test(LATE, 'whose process is still importing its module does not start when'),
    ],
    mutants: [
      'verdict-is-never-taken-again',
      'second-look-keeps-the-old-policy',
      'second-look-ignores-a-cancel',
      'old-answers-are-trusted',
      'started-calls-are-parked',
      'processes-enter-without-asking',
      'late-start-is-trusted',
    ],
  },
  {
    id: 'CO2',
    says: 'A lower version of a module is published when no live worker serves the published one; log, start screen and doctor say so.',
    tests: [
      test(
        'src/modules/catalog/publish-catalog.test.ts',
        'puts a lower version in the place of one that no live worker serves',
      ),
      test('src/modules/catalog/keep-published.test.ts', 'once the last worker of the published version is gone'),
      test('src/modules/catalog/keep-published.test.ts', 'publishes a higher version again'),
      test('src/modules/catalog/keep-published.test.ts', 'leaves an equal version with other content alone'),
      test(ROLL_BACK, 'is published in its lower version when no worker of the higher one lives'),
      test(ROLL_BACK, 'follows when that worker is killed'),
      test(ROLL_BACK, 'follows a reload to a lower version'),
    ],
    mutants: ['rolled-back-modules-stay-unpublished', 'draining-workers-keep-their-version'],
  },
  {
    id: 'CO3',
    says: 'An embedded store whose file was emptied, deleted or damaged is not replaced by a new one: the refusal names the file and the way back.',
    tests: [
      test(LOST, 'is not given a new one when its file'),
      test(LOST, 'also without an id file'),
      test(LOST, 'says which file is damaged'),
      test(LOST, 'takes a backup, and never the log of the lost file'),
      test(LOST, 'gets an empty store only when an operator adopts that'),
    ],
    mutants: ['lost-stores-are-made-anew', 'restored-files-get-old-logs'],
  },
  {
    id: 'CO4',
    says: 'Calls of lost workers are recovered also while Redis reports a negative uptime.',
    tests: [test('test/redis/set-back-clock.test.ts', 'still gives away the calls of lost workers')],
    mutants: ['set-back-clocks-stop-recovery'],
  },
  {
    id: 'CO5',
    says: 'A cancelled call of an unsafe tool without a start mark says that it did not run.',
    tests: [...onBothStores('cancel says of a held call of an unsafe tool that it did not run')],
    mutants: ['cancel-does-not-compare-the-digest'],
  },
  {
    id: 'CO6',
    says: 'The chaos run withdraws permissions while a slow hook holds a call and while its worker is stopped right after a send; its checks count a tool that starts all the same.',
    tests: [
      test(CHAOS_CHECKS, 'find a start right after a stop at a send in which the withdrawal was acknowledged'),
      test(CHAOS_CHECKS, 'find a start right after a slow hook in which the withdrawal was acknowledged'),
      test(CHAOS_CHECKS, 'allow a start within the bound'),
      test(CHAOS_CHECKS, 'count from the end of a stop that may have hit a worker right before the tool'),
      test('test/chaos/chaos.test.ts', 'violates nothing'),
    ],
    mutants: ['chaos-excuses-stops-at-a-send', 'chaos-excuses-slow-hooks', 'chaos-excuses-stopped-workers'],
  },
];
