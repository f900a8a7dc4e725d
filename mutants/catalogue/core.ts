import type { Mutant } from '../mutant.ts';

const PERMIT_TEST = 'src/start-permit.test.ts';
const LATE_TEST = 'test/plane/late-starts.test.ts';
const LOST_TEST = 'test/embedded/lost-file.test.ts';
const PERMIT = 'src/start-permit.ts';
const LATE_CHECK = 'chaos/checks/late-starts.ts';
const CHECKS_TEST = 'test/chaos/checks.test.ts';

/** Bugs against the requirements in requirements/rows-core.ts: late starts, rolled-back modules, lost files, clocks that were set back. */
export const CORE: readonly Mutant[] = [
  {
    id: 'verdict-is-never-taken-again',
    bug: 'A call starts on the verdict that it got before a hook took seconds, whatever was revoked meanwhile.',
    file: PERMIT,
    find: 'return performance.now() <= this.validUntil ? undefined : this.#lookAgain();',
    replace: 'return this.validUntil >= 0 ? undefined : this.#lookAgain();',
    caughtBy: [
      { file: PERMIT_TEST, title: 'is valid without a trip for as long as a snapshot is trusted' },
      { file: LATE_TEST, title: 'held by a slow hook does not start when' },
    ],
  },
  {
    id: 'second-look-keeps-the-old-policy',
    bug: 'The second look before a start reads session and lease, and keeps the verdict of the old policy.',
    file: PERMIT,
    find: 'admitted.policyVersion === call.admitted.policyVersion && facts.grant === undefined',
    replace: 'facts.grant === undefined',
    caughtBy: [{ file: PERMIT_TEST, title: 'ends when' }],
  },
  {
    id: 'second-look-ignores-a-cancel',
    bug: 'A worker that hears of a cancellation right before the start enters the tool all the same.',
    file: 'src/stages/admit/admit.ts',
    find: "if (lease === 'cancel') return ended(errorOutcome('CALL_CANCELLED', {}));",
    replace: "if (lease === 'cancel') return undefined;",
    caughtBy: [{ file: PERMIT_TEST, title: 'ends when' }],
  },
  {
    id: 'old-answers-are-trusted',
    bug: 'An answer of the store counts as new however long it was under way, as after a stop of the process.',
    file: PERMIT,
    find: 'if (performance.now() <= this.validUntil) return undefined;',
    replace: 'if (this.validUntil >= 0) return undefined;',
    caughtBy: [
      { file: PERMIT_TEST, title: 'asks again when an answer was too old on arrival' },
      { file: LATE_TEST, title: 'whose worker stalls twice, past its lease' },
    ],
  },
  {
    id: 'started-calls-are-parked',
    bug: 'A call with a start mark is parked with a question, and counts as run when it comes back.',
    file: PERMIT,
    find: 'this.#isMarked = true;',
    replace: 'this.#isMarked = false;',
    caughtBy: [
      {
        file: PERMIT_TEST,
        title: 'asks no person after the start mark: the call ends as stale, and a repeat is asked about',
      },
    ],
  },
  {
    id: 'processes-enter-without-asking',
    bug: 'A process that took seconds to import a module enters the tool without asking its worker.',
    file: 'src/worker/runners/process/process-child.ts',
    find: 'if (startUntil === undefined || monotonicMs() <= startUntil) return undefined;',
    replace: 'if (startUntil === undefined || monotonicMs() > 0) return undefined;',
    caughtBy: [{ file: LATE_TEST, title: 'whose process is still importing its module does not start when' }],
  },
  {
    id: 'chaos-excuses-stops-at-a-send',
    bug: 'The chaos checks excuse a worker that was stopped right after a send and then started a cancelled call.',
    file: LATE_CHECK,
    find: '...faults.filter(({ kind }) => kind === STOP_AT_SEND),',
    replace: "...faults.filter(({ kind }) => kind === STOP_AT_SEND && kind !== 'stop-at-send'),",
    caughtBy: [{ file: CHECKS_TEST, title: 'find a start right after a stop at a send' }],
  },
  {
    id: 'chaos-excuses-slow-hooks',
    bug: 'The chaos checks excuse a start right after a slow hook during which the session was revoked.',
    file: LATE_CHECK,
    find: '...hooks.filter(({ callId }) => callId === start.callId),',
    replace: '...hooks.filter(({ callId }) => callId !== start.callId && callId === String(start.pid)),',
    caughtBy: [{ file: CHECKS_TEST, title: 'find a start right after a slow hook' }],
  },
  {
    id: 'chaos-excuses-stopped-workers',
    bug: 'The chaos checks excuse every start of a worker that was ever stopped since the cancel.',
    file: LATE_CHECK,
    find: 'return start.atMs > Math.max(ackMs, ...stops.map(({ toMs }) => toMs)) + SLACK_MS;',
    replace: 'return stops.length === 0 && start.atMs > ackMs + SLACK_MS;',
    caughtBy: [{ file: CHECKS_TEST, title: 'count from the end of a stop' }],
  },
  {
    id: 'rolled-back-modules-stay-unpublished',
    bug: 'A lower version is not published although no live worker serves the published one.',
    file: 'src/modules/catalog/publish-catalog.ts',
    find: 'if (isBehind && (served === undefined || served.has(published.digest))) {',
    replace: "if (isBehind && published.digest !== '') {",
    caughtBy: [
      { file: 'src/modules/catalog/publish-catalog.test.ts', title: 'puts a lower version in the place of one' },
    ],
  },
  {
    id: 'draining-workers-keep-their-version',
    bug: 'A worker that drains counts as one that serves the published version.',
    file: 'src/modules/catalog/keep-published.ts',
    find: ".filter(({ state }) => state !== 'draining')",
    replace: '.filter(({ state }) => state.length > 0)',
    caughtBy: [
      {
        file: 'src/modules/catalog/keep-published.test.ts',
        title: 'once the last worker of the published version is gone',
      },
    ],
  },
  {
    id: 'lost-stores-are-made-anew',
    bug: 'A store file that was emptied or deleted becomes a new store without policy, revocations and audit.',
    file: 'src/stores/embedded/store-traces.ts',
    find: 'if (traces.length > 0 && isStoreEmpty(folder)) throw lostStore(folder, traces);',
    replace: 'if (traces.length > 99 && isStoreEmpty(folder)) throw lostStore(folder, traces);',
    caughtBy: [{ file: LOST_TEST, title: 'is not given a new one when its file' }],
  },
  {
    id: 'restored-files-get-old-logs',
    bug: 'The log of a lost store file stays beside the restored one, and SQLite replays it into that.',
    file: 'src/stores/embedded/backup-store.ts',
    find: '    setLogsAside(store);\n',
    replace: '',
    caughtBy: [{ file: LOST_TEST, title: 'takes a backup, and never the log of the lost file' }],
  },
  {
    id: 'set-back-clocks-stop-recovery',
    bug: 'A Redis whose clock was set back behind its start gives no lost call away.',
    file: 'src/stores/redis/functions/reclaim-calls.lua',
    find: 'if up_seconds >= 0 and (up_seconds',
    replace: 'if (up_seconds',
    caughtBy: [{ file: 'test/redis/set-back-clock.test.ts', title: 'still gives away the calls of lost workers' }],
  },
  {
    id: 'cancel-does-not-compare-the-digest',
    bug: 'Redis says of a cancelled call that it did not run although it named another tool definition than the unsafe one.',
    file: 'src/stores/redis/functions/cancel-call.lua',
    find: 'fields.toolDigest == unsafe_digest',
    replace: 'fields.toolDigest ~= nil',
    caughtBy: [
      {
        file: 'test/contract/redis.test.ts',
        title: 'cancel says of a held call of an unsafe tool that it did not run',
      },
    ],
  },
];
