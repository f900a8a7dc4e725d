import type { Mutant } from '../mutant.ts';

const REDIS = 'test/contract/redis.test.ts';

/** Bugs against the requirements in requirements/rows-beyond.ts, whose ids begin with D: what none of three earlier systems could do. */
export const ROWS_BEYOND: readonly Mutant[] = [
  {
    id: 'any-call-can-be-resolved',
    bug: 'An operator can say of a call that ended well that it did not run.',
    file: 'src/stores/redis/functions/resolve-call.lua',
    find: "if indeterminate ~= '1' or ending.resolution ~= '' then",
    replace: "if ending.resolution ~= '' then",
    caughtBy: [{ file: REDIS, title: 'resolve refuses calls that are not indeterminate' }],
  },
  {
    id: 'sealed-state-works-twice',
    bug: 'What an MCP client carries between two requests can be used again.',
    file: 'src/gateway/mcp/sealed-state.ts',
    find: "return use === 'first' ? state : undefined;",
    replace: 'return use.length > 0 ? state : undefined;',
    caughtBy: [{ file: 'src/gateway/mcp/sealed-state.test.ts', title: 'comes back to its owner, once' }],
  },
  {
    id: 'first-starts-leave-no-mark',
    bug: 'Tools are entered without a start mark, so that an unsafe one is run again after a crash.',
    file: 'src/stages/execute/begin.ts',
    find: 'return mustMark ?',
    replace: 'return mustMark && delivery.recovered !== undefined ?',
    caughtBy: [{ file: 'test/plane/crash-points.test.ts', title: 'before settleCall' }],
  },
  {
    id: 'records-are-not-chained',
    bug: 'The link of an audit record does not depend on the record before it.',
    file: 'src/domain/audit/record-bytes.ts',
    find: 'Buffer.concat([previous, Buffer.from(text)])',
    replace: 'Buffer.concat([previous.subarray(0, 0), Buffer.from(text)])',
    caughtBy: [
      {
        file: 'src/domain/audit/record-bytes.test.ts',
        title: 'is chained to the one before, to its lane and to its store',
      },
    ],
  },
  {
    id: 'explain-forgets-pauses',
    bug: 'explain does not know that a tool, an agent or everything is paused.',
    file: 'src/domain/policy/explain-call.ts',
    find: '    answerPaused(policy, tool, identity),\n',
    replace: '',
    caughtBy: [
      { file: 'src/domain/policy/explain-call.test.ts', title: 'decides as the plane does, and its changes suffice' },
    ],
  },
  {
    id: 'console-hides-the-end',
    bug: 'The console folds long arguments so that their last lines, where the danger may stand, are out of sight.',
    file: 'console/src/fold-text.ts',
    find: 'lines.slice(-limits.tailLines)',
    replace: 'lines.slice(limits.lines - limits.tailLines, limits.lines)',
    caughtBy: [{ file: 'console/src/fold-text.test.ts', title: 'keeps the end of a long text in sight' }],
  },
  {
    id: 'backlogs-have-no-bound',
    bug: 'One subject can queue as much as it likes on the embedded store.',
    file: 'src/stores/embedded/transitions/check-admission.ts',
    find: 'lane.slot(place.slot).backlog >= admission.subjectBacklog',
    replace: 'lane.slot(place.slot).backlog > 1e9 + admission.subjectBacklog',
    caughtBy: [
      {
        file: 'test/contract/embedded.test.ts',
        title: "accept refuses above the subject's backlog and leaves other subjects alone",
      },
    ],
  },
  {
    id: 'grandchildren-live-on',
    bug: 'What a tool started is not ended with its process.',
    file: 'src/base/kill-group.ts',
    find: "process.kill(-leader, 'SIGKILL');",
    replace: "process.kill(leader, 'SIGKILL');",
    caughtBy: [{ file: 'test/runners/process-runner.test.ts', title: 'leaves no grandchild behind' }],
  },
];
