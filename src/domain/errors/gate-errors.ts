import { entry } from './error-entry.ts';

/** For the model: the answer to every call in a run that loop detection ended. */
export const RUN_ENDED_ADVICE =
  'This call did not run: this run was ended because it went round in circles, and nothing runs in it any more. Stop calling tools, and report what you have and what is missing.';

/** Errors that end calls because of rules, loop detection or budgets. */
export const GATE_ERRORS = {
  RULE_DENIED: entry({
    stage: 'gate',
    kind: 'denied',
    retry: 'never',
    say: (d: { tool: string; rule: string; reason: string }) => {
      const why = d.reason === '' ? '' : `: ${d.reason}`;
      const who =
        d.rule === 'unmatched'
          ? `No rule allows this call of ${d.tool}`
          : `Rule "${d.rule}" denies this call of ${d.tool}`;
      return `${who}${why}. It did not run; do not repeat it unchanged.`;
    },
    fix: 'See sallyport explain AGENT TOOL ARGUMENTS, and change the rule if it is wrong.',
  }),
  VERDICT_STALE: entry({
    stage: 'gate',
    kind: 'stale',
    retry: 'same-call',
    say: (d: { tool: string }) =>
      `The rules for ${d.tool} changed while it was about to start: a person has to be asked now. It did not run.`,
    fix: 'Repeat the call; an approver is asked then. The client library does it by itself, once.',
  }),
  LOOP_BLOCKED: entry({
    stage: 'gate',
    kind: 'blocked',
    retry: 'never',
    say: (d: { message: string }) => d.message,
    fix: 'See docs/loops.md for the thresholds, and how an agent or a tool gets others.',
  }),
  RUN_ENDED_BY_LOOP: entry({
    stage: 'gate',
    kind: 'blocked',
    retry: 'never',
    say: (d: { message: string }) => d.message,
    fix: 'Begin a new conversation with a new run: see "After a run was ended" in docs/loops.md for each surface.',
  }),
  BUDGET_SPENT: entry({
    stage: 'gate',
    kind: 'blocked',
    retry: 'never',
    say: (d: { message: string }) => d.message,
    fix: 'Raise the budget of the agent in the policy, or open a new run.',
  }),
} as const;
