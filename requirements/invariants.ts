import { onBothStores, test, type Requirement } from './requirement.ts';

/** Facts that hold at every moment, whatever fails. The mutants of each invariant break it. */
export const INVARIANTS: readonly Requirement[] = [
  {
    id: 'I1',
    says: 'An accepted call has one ending, which never changes.',
    tests: [
      ...onBothStores('settle with other bytes never replaces an outcome'),
      ...onBothStores('settle of one call twice at once ends it once, with one reply'),
      ...onBothStores('settle against cancel of a held call has one winner'),
    ],
    mutants: ['one-batch-settles-a-call-twice', 'second-outcome-is-taken-for-the-first'],
  },
  {
    id: 'I2',
    says: 'An unsafe tool never starts twice.',
    tests: [
      ...onBothStores('an unsafe call lost while running is never started again'),
      ...onBothStores('an unsafe call abandoned after its start mark does not start again'),
      test('test/plane/crash-points.test.ts', 'one answer'),
    ],
    mutants: ['start-repeats-an-unsafe-call', 'embedded-start-repeats-an-unsafe-call', 'first-starts-leave-no-mark'],
  },
  {
    id: 'I3',
    says: 'Nothing starts without a live session, looked at again in the claim.',
    tests: [
      ...onBothStores('start refuses a call whose session was revoked after the claim'),
      ...onBothStores('start refuses a call whose session expired after the claim'),
      test('src/stages/admit/admit.test.ts', 'looks again and ends with a revoked session'),
      test('test/plane/load-and-recovery.test.ts', 'does not run when its session was revoked before the stall ended'),
    ],
    mutants: ['start-forgets-the-session', 'session-checked-only-at-accept'],
  },
  {
    id: 'I4',
    says: 'What runs is what was approved, byte by byte.',
    tests: [
      ...onBothStores('allow queues the exact bytes again under a higher fence'),
      ...onBothStores('a decision that names another binding decides nothing'),
      test('test/plane/gate-approvals.test.ts', 'do not run when the store has other arguments, edits, tool, session'),
    ],
    mutants: ['decision-ignores-the-binding', 'approval-digest-not-compared'],
  },
  {
    id: 'I5',
    says: 'No accepted call is lost when a process is killed, Redis included.',
    tests: [
      test('test/plane/store-crash.test.ts', 'loses nothing and runs nothing twice'),
      test('test/plane/crash-points.test.ts', 'one answer'),
      test('test/embedded/kill-owner.test.ts', 'every call that was accepted or settled is still so'),
      ...onBothStores('accept survives the end of every connection'),
      ...onBothStores('reclaim takes over a lost call with a higher fence and the same bytes'),
    ],
    mutants: ['ack-at-claim', 'reclaim-acknowledges-what-it-takes'],
  },
  {
    id: 'I6',
    says: 'Outcome, replies, audit record and the end of the lease are one step, also where a log was torn.',
    tests: [
      ...onBothStores('settle stores the outcome and ends the lease'),
      ...onBothStores('the audit has one ending per call, in the order they happened, without gaps'),
      test('test/plane/bad-input-redis.test.ts', 'does not settle a neighbour by halves'),
      test('test/embedded/torn-log.test.ts', 'opens as a prefix of history wherever its tail is cut off'),
      test('test/chaos/layers.test.ts', 'finds nothing wrong'),
    ],
    mutants: ['settle-without-audit', 'embedded-settle-without-audit'],
  },
  {
    id: 'I7',
    says: 'A worker that lost its lease cannot settle, renew, send, or use an approval.',
    tests: [
      ...onBothStores('a worker that lost its call can do nothing with it any more'),
      ...onBothStores('a worker that takes over its own call loses the old lease of it'),
      ...onBothStores('an effect of a worker that lost the call is refused, and nothing is queued'),
      ...onBothStores('ask by a worker that lost the call asks nothing'),
      test('test/plane/pause.test.ts', 'cannot settle a call that its new owner still runs'),
    ],
    mutants: [
      'settle-ignores-the-fence',
      'renew-ignores-the-fence',
      'embedded-ignores-the-fence',
      'effect-sent-without-the-lease',
      'question-asked-without-the-lease',
    ],
  },
  {
    id: 'I8',
    says: 'The same key with the same body is the same call, whatever is repeated or lost on the way.',
    tests: [
      ...onBothStores('two hundred accepts of one key from four connections make one call'),
      ...onBothStores('accept of the same key with another body is a conflict and adds no waiter'),
      ...onBothStores('settle that releases the key lets the next accept run anew'),
      test('test/redis/connections.test.ts', 'of accept never makes a second call'),
      test('test/chaos/layers.test.ts', 'reply loss'),
    ],
    mutants: ['same-key-with-another-body-is-the-same-call', 'embedded-same-key-with-another-body-is-the-same-call'],
  },
  {
    id: 'I9',
    says: 'An approval is used once, the first answer wins, it survives restarts, and the default is no.',
    tests: [
      ...onBothStores('is the first answer and wins over'),
      ...onBothStores('exactly one of two concurrent approvers decides, and the call follows that decision'),
      ...onBothStores('a question past its expiry by store time cannot be decided'),
      test('test/plane/gate-rules.test.ts', 'allow once and no more: the same call asks again'),
      test('test/plane/gate-rules.test.ts', 'that are not answered in time deny'),
      test('test/redis/approval-soak.test.ts', 'parked calls survive kill -9 of Redis'),
    ],
    mutants: ['approval-not-consumed', 'late-yes-counts'],
  },
  {
    id: 'I10',
    says: 'The audit of accepted calls has no gaps, is chained, and is never behind a reply that somebody saw.',
    tests: [
      ...onBothStores('the audit has one ending per call, in the order they happened, without gaps'),
      ...onBothStores('every lane counts its own sequence from 1'),
      test('test/audit/trail.test.ts', 'names a record that was removed'),
      test('test/audit/kill-soak.test.ts', 'verifies, and has exactly the records of every call'),
    ],
    mutants: ['settle-without-audit', 'embedded-settle-without-audit'],
  },
  {
    id: 'I11',
    says: 'Serial tools start in the order of acceptance, one at a time per subject.',
    tests: [
      ...onBothStores('serial calls of a subject come one at a time, in accept order'),
      ...onBothStores('a lost serial call keeps its turn'),
      ...onBothStores('serial calls stay in order with three claimers and lost workers'),
      test('test/plane/serial.test.ts', 'start in the order of acceptance, one at a time, over a killed worker'),
    ],
    mutants: ['serial-not-ordered', 'serial-calls-run-side-by-side', 'embedded-serial-not-ordered'],
  },
  {
    id: 'I12',
    says: 'Bounds hold. Overload is refused before acceptance; settling works at the memory limit.',
    tests: [
      ...onBothStores('accept refuses the call above liveCalls, writes nothing of it'),
      ...onBothStores('the admission bound holds when many accept at once'),
      ...onBothStores('an overloaded store still settles and cancels'),
      test('test/redis/memory-limit.test.ts', 'still revokes sessions, settles and cancels, and refuses new calls'),
    ],
    mutants: ['admission-limit-ignored', 'embedded-admission-limit-ignored'],
  },
  {
    id: 'I13',
    says: 'Every accepted call has ended by its deadline, two leases and five seconds.',
    tests: [
      ...onBothStores('reap settles a queued call past its deadline'),
      ...onBothStores('a call held without a start mark is terminal at the latest when it is overdue'),
      test(
        'test/plane/load-and-recovery.test.ts',
        'a crowd of expired calls is terminal within deadline + 2 leases + 5 s',
      ),
    ],
    mutants: ['reaper-spares-what-somebody-held'],
  },
  {
    id: 'I14',
    says: 'After an acknowledged cancellation nothing new starts later than 250 ms, and a tool that runs is told at once.',
    tests: [
      ...onBothStores('start does not begin a call that was cancelled while held'),
      ...onBothStores('start against cancel: either nothing starts, or the cancel knows that something has'),
      test('src/worker/supervise.test.ts', 'passes a cancellation on at the next look, long before the heartbeat'),
      test('test/plane/cancel.test.ts', 'the tool sees the abort, the call ends'),
    ],
    mutants: ['cancellation-waits-for-the-heartbeat'],
  },
  {
    id: 'I15',
    says: 'Replies, files and questions reach only those they are for.',
    tests: [
      ...onBothStores('callers never see each other’s replies'),
      ...onBothStores('cancel gives strangers, wrong tokens and unknown ids the same answer'),
      test('src/client/client.test.ts', 'reads no result of another subject, for any caller'),
      test(
        'src/client/approvals.test.ts',
        'list and get show a question only to operators, approvers and its requester',
      ),
      test('test/mcp/isolation.test.ts', "never get each other's answers"),
    ],
    mutants: ['embedded-reply-read-by-anybody', 'result-of-another-subject-is-read'],
  },
  {
    id: 'I16',
    says: 'Rights only become fewer on the way, and the policy at the claim is the current one.',
    tests: [
      test('src/worker/policy-cache.test.ts', 'a version written while a read was under way is read again'),
      test('src/stages/identify/identify.test.ts', 'acts for one that did not select it'),
      test('src/domain/identity/agent.test.ts', 'an agent holds at most what those it acts for hold'),
      test('src/stages/identify/identify.test.ts', 'asks the policy that comes with the claim, not one it knew before'),
      ...onBothStores('every lane has moved when writePolicy has returned'),
      test('test/plane/agents.test.ts', 'are judged by the selection at the claim'),
    ],
    mutants: ['policy-read-at-accept-only', 'delegation-widens'],
  },
  {
    id: 'I17',
    says: 'The definition that runs is the one that was shown.',
    tests: [
      test(
        'src/stages/identify/identify.test.ts',
        'answers stale with its own digest when no worker serves the requested one',
      ),
      test('src/modules/catalog/tool-index.test.ts', 'leaves a running call its own generation'),
      test('test/plane/staleness.test.ts', 'as the old or the new caller saw it'),
    ],
    mutants: ['tool-digest-not-compared'],
  },
  {
    id: 'I18',
    says: 'Times are decided by the clock of the store, never by that of a process.',
    tests: [
      ...onBothStores('accept writes a queued record with the identity of the session and a deadline in store time'),
      ...onBothStores('store time does not go back and is the same for all connections'),
      test('src/stages/admit/admit.test.ts', 'takes time and policy from the second look'),
      test(
        'src/stores/embedded/store-clock.test.ts',
        'store time goes on at the monotonic pace when the wall clock is set back',
      ),
    ],
    mutants: ['leases-follow-the-wall-clock'],
  },
  {
    id: 'I19',
    says: 'Nothing is left over after a run that was drained.',
    tests: [
      ...onBothStores(
        'accept refuses the call above liveCalls, writes nothing of it, and takes the next after a settle',
      ),
      test('test/plane/hygiene.test.ts', 'leaves nothing behind but outcomes and audit'),
      ...onBothStores('queueState counts what waits and what is held, and nothing once all is settled'),
      test('test/redis/approvals.test.ts', 'leave no key behind when their calls are forgotten'),
    ],
    mutants: ['settled-calls-stay-live'],
  },
  {
    id: 'I20',
    says: 'An outcome outlives its reader.',
    tests: [
      ...onBothStores('the outcome outlives its reader'),
      ...onBothStores('a reply comes again until it is acknowledged, under the same reply id'),
      test('test/plane/long-calls.test.ts', 'its caller is killed, and another process gets the result'),
    ],
    mutants: ['outcome-goes-with-its-reader', 'reply-forgotten-when-it-is-read'],
  },
  {
    id: 'I21',
    says: 'A call that kills its worker twice ends as crashed, and takes no neighbour along.',
    tests: [
      ...onBothStores('a call that lost two workers after its start is used up'),
      test('src/worker/consume.test.ts', 'recovers one call at a time'),
      test('test/plane/hostile-tools.test.ts', 'among 64 others ends crashed, and the others end ok'),
    ],
    mutants: ['poison-call-never-crashed', 'embedded-poison-call-never-crashed'],
  },
  {
    id: 'I22',
    says: 'SIGTERM ends a worker in order: nothing is lost, and nothing ends as indeterminate within the grace.',
    tests: [
      test('test/plane/drain.test.ts', 'finishes its 20 running calls and leaves 20 queued ones'),
      test('test/plane/drain.test.ts', 'takes no call that comes after the signal'),
      ...onBothStores('abandon makes the call claimable at once, under a higher fence'),
    ],
    mutants: ['drain-abandons-running-calls'],
  },
  {
    id: 'I23',
    says: 'Unknown versions are refused, visibly.',
    tests: [
      test('src/domain/call/envelope.test.ts', 'visibly'),
      test('src/stores/embedded/schema.test.ts', 'a store of a newer release is refused and left as it is'),
      test('test/redis/server-safety.test.ts', 'refuses a store of an unknown schema version'),
    ],
    mutants: ['unknown-version-accepted'],
  },
  {
    id: 'I24',
    says: 'The embedded store passes the suite that Redis passes.',
    tests: [
      ...onBothStores(
        'after any commands on a few calls, the store answers as the model does and ends with the same records',
      ),
      ...onBothStores('an unsafe call lost while running is never started again'),
    ],
    mutants: ['embedded-start-repeats-an-unsafe-call'],
  },
  {
    id: 'I25',
    says: 'Nobody starts on a store that is not safe: with eviction, without an append-only file, or too old.',
    tests: [
      test('test/redis/server-safety.test.ts', 'start-up refuses a server that would lose calls'),
      test('test/redis/server-safety.test.ts', 'that is too old'),
      test('test/redis/server-safety.test.ts', 'refuses another number of lanes than the store has'),
    ],
    mutants: ['eviction-policy-not-checked', 'append-only-file-not-checked', 'old-server-not-refused'],
  },
  {
    id: 'I26',
    says: 'When the data is gone or older than before, everybody stops and says so.',
    tests: [
      ...onBothStores('a store whose data was taken away says so'),
      test('test/redis/server-safety.test.ts', 'stops every process after FLUSHALL, and nothing is made anew'),
      test('test/redis/server-safety.test.ts', 'is noticed when older data took its place'),
      test('src/worker/consume.test.ts', 'halts when the store was replaced'),
    ],
    mutants: ['incarnation-not-checked', 'older-data-goes-unnoticed'],
  },
];
