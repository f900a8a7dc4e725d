import type { Mutant } from '../mutant.ts';

const AFTER_TEST = 'test/gateway/after-a-loop.test.ts';
const EMBEDDED = 'test/contract/embedded.test.ts';
const REDIS = 'test/contract/redis.test.ts';
const DETECT_TEST = 'src/gate/loop/detect-loop.test.ts';
const GATE_TEST = 'src/gate/wrap/gate-loops.test.ts';
const SESSIONS_TEST = 'src/gateway/agent-sessions.test.ts';

/** Bugs against the requirements in requirements/rows-after-a-loop.ts: what a session may do after loop detection has ended its run. */
export const AFTER_A_LOOP: readonly Mutant[] = [
  {
    id: 'many-ended-runs-shorten-the-rest',
    bug: 'A conversation gets a run before its rest is over, once 16 other runs of its session were ended.',
    file: 'src/stores/embedded/transitions/session-row.ts',
    find: 'index >= first || opensAt > now).slice',
    replace: 'index >= first).slice',
    caughtBy: [{ file: EMBEDDED, title: 'has its whole rest, however many others end after it' }],
  },
  {
    id: 'many-ended-runs-shorten-the-rest-redis',
    bug: 'A conversation gets a run before its rest is over, once 16 other runs of its session were ended.',
    file: 'src/stores/redis/functions/shared/settled-attempts.lua',
    find: "if number > #lines - 16 or tonumber(string.match(line, '%d+$')) > now then",
    replace: 'if number > #lines - 16 then',
    caughtBy: [{ file: REDIS, title: 'has its whole rest, however many others end after it' }],
  },
  {
    id: 'ended-runs-are-unknown-embedded',
    bug: 'The embedded store forgets that a loop ended the run: its calls are answered as those of a run that never was.',
    file: 'src/stores/embedded/transitions/session-row.ts',
    find: "return findLoopEnd(session, run) === undefined ? 'run-unknown' : 'run-ended';",
    replace: "return findLoopEnd(session, run) === undefined ? 'run-unknown' : 'run-unknown';",
    caughtBy: [
      {
        file: EMBEDDED,
        title: 'a call in a run that a loop ended gets that reason, with the rest of the time; other runs are unknown',
      },
    ],
  },
  {
    id: 'ended-runs-are-unknown-redis',
    bug: 'The Redis store forgets that a loop ended the run: its calls are answered as those of a run that never was.',
    file: 'src/stores/redis/functions/shared/session.lua',
    find: "ending = about_run and 'run-ended' or 'run-unknown'",
    replace: "ending = 'run-unknown'",
    caughtBy: [
      {
        file: REDIS,
        title: 'a call in a run that a loop ended gets that reason, with the rest of the time; other runs are unknown',
      },
    ],
  },
  {
    id: 'keys-of-before-are-blocked-embedded',
    bug: 'A key of before the end of the run is answered with "did not run", although its call ran.',
    file: 'src/stores/embedded/transitions/accept-call.ts',
    find: "if (ending !== undefined && ending !== 'run-ended') return { kind: 'unauthenticated', ending };",
    replace:
      "if (ending === 'run-ended') return refuseEndedRun(transaction, session, request.run);\n  if (ending !== undefined) return { kind: 'unauthenticated', ending };",
    caughtBy: [{ file: EMBEDDED, title: 'a key of before is still answered' }],
  },
  {
    id: 'keys-of-before-are-blocked-redis',
    bug: 'A key of before the end of the run is answered with "did not run", although its call ran.',
    file: 'src/stores/redis/functions/accept-calls.lua',
    find: '  if stored[number] then',
    replace: '  if stored[number] and not head.rest_ms then',
    caughtBy: [{ file: REDIS, title: 'a key of before is still answered' }],
  },
  {
    id: 'ended-runs-fill-the-session',
    bug: 'A session keeps every run that a loop ended.',
    file: 'src/stores/embedded/transitions/session-row.ts',
    find: 'index >= first || opensAt > now',
    replace: 'index >= first || opensAt > 0',
    caughtBy: [{ file: EMBEDDED, title: 'remembers a bounded number of ended runs' }],
  },
  {
    id: 'ended-runs-fill-the-session-redis',
    bug: 'A session keeps every run that a loop ended.',
    file: 'src/stores/redis/functions/shared/settled-attempts.lua',
    find: '> now then kept',
    replace: '> 0 then kept',
    caughtBy: [{ file: REDIS, title: 'remembers a bounded number of ended runs' }],
  },
  {
    id: 'next-runs-are-not-stricter',
    bug: 'A run that is opened after a loop is as patient as the first.',
    file: 'src/stores/redis/functions/change-session.lua',
    find: 'opened_run(now_ms(), latest_loop_ends())',
    replace: 'opened_run(now_ms(), nil)',
    caughtBy: [
      {
        file: REDIS,
        title: 'the next runs get the times when runs were ended, the latest ones only, and an open run does not',
      },
    ],
  },
  {
    id: 'strictness-never-lapses',
    bug: 'A loop makes all later conversations of its session stricter.',
    file: 'src/gate/loop/detect-loop.ts',
    find: 'now - endedAt < strictMs ? count + 1 : count',
    replace: 'now - endedAt < Infinity ? count + 1 : count',
    caughtBy: [{ file: DETECT_TEST, title: 'as long as ever an hour after' }],
  },
  {
    id: 'queued-calls-end-the-next-run',
    bug: 'A call that was queued when a loop ended its run is settled as one that ends a run.',
    file: 'src/domain/identity/session-ended.ts',
    find: "return ending === 'run-ended' ? runEndedByLoop() :",
    replace: "return ending === 'run-ended' ? runEndedByLoop(0) :",
    caughtBy: [
      { file: 'src/stages/settle/attempt-of.test.ts', title: 'ends the run only when the loop was the reason' },
    ],
  },
  {
    id: 'ended-runs-are-replaced-at-once',
    bug: 'The gateway gives a model that goes on a new run although the rest is not over.',
    file: 'src/domain/identity/session-ended.ts',
    find: "error.facts?.['restMs'] === 0",
    replace: "error.facts?.['restMs'] !== undefined",
    caughtBy: [{ file: SESSIONS_TEST, title: 'only when its rest is over' }],
  },
  {
    id: 'ended-runs-are-never-replaced',
    bug: 'A token stays in the run that a loop ended, as long as calls are made with it.',
    file: 'src/gateway/agent-sessions.ts',
    find: 'if (isOver && runs.get(name) === known) runs.delete(name);',
    replace: 'if (isOver && runs.get(name) === known) runs.set(name, known!);',
    caughtBy: [{ file: SESSIONS_TEST, title: 'only when its rest is over' }],
  },
  {
    id: 'mcp-calls-stay-in-ended-runs',
    bug: 'A call over MCP is made in the run of its session only, also when that is over.',
    file: 'src/gateway/mcp/mcp-shared.ts',
    find: 'if (sessions.callIn !== undefined) return',
    replace: "if (sessions.callIn !== undefined && runName === '') return",
    caughtBy: [{ file: AFTER_TEST, title: 'gives the same client its next run' }],
  },
  {
    id: 'unknown-runs-are-wrong-credentials',
    bug: 'A run that is gone is answered like a wrong token.',
    file: 'src/gateway/problem.ts',
    find: ', RUN_UNKNOWN: 404 }',
    replace: ' }',
    caughtBy: [{ file: AFTER_TEST, title: 'is no matter of credentials' }],
  },
  {
    id: 'refused-calls-prolong-the-rest-of-a-gate',
    bug: 'In the library, every call in an ended run begins its rest anew.',
    file: 'src/gate/wrap/run-memory.ts',
    find: '    if (opensAt !== undefined) return;\n',
    replace: '',
    caughtBy: [{ file: GATE_TEST, title: 'which calls in between do not prolong' }],
  },
];
