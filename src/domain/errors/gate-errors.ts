import { entry } from './error-entry.ts';
import type { CancelFacts } from '../call/cancelled-by.ts';

/** For the model: the answer to every call in a run that loop detection ended. */
export const RUN_ENDED_ADVICE =
  'This call did not run: this run was ended because it went round in circles, and nothing runs in it any more. Stop calling tools, and report what you have and what is missing.';

/** The last sentences of the messages to the model below. A model that reads a bare "denied" tries again, or takes it for an outage. */
const FINAL = 'It did not run. This is final: do not try it again, and do not look for a way around it.';

/** Errors that end calls which needed a person's approval, whether or not a person was asked. */
export const APPROVAL_ERRORS = {
  APPROVAL_DENIED: entry({
    stage: 'gate',
    kind: 'denied',
    retry: 'never',
    say: (d: { tool: string; comment: string }) =>
      `A person was asked about this call of ${d.tool} and said no${d.comment === '' ? '' : ` (${d.comment})`}. ${FINAL}`,
  }),
  APPROVAL_EXPIRED: entry({
    stage: 'gate',
    kind: 'denied',
    retry: 'never',
    say: () => `A person was asked about this call and nobody decided in time. ${FINAL}`,
    fix: 'Decide sooner, see sallyport approvals list; or give the asking rule a longer timeout.',
  }),
  APPROVAL_ABORTED: entry({
    stage: 'gate',
    kind: 'cancelled',
    retry: 'never',
    say: (_facts: CancelFacts) => `The call was cancelled while a person was asked about it. ${FINAL}`,
  }),
  APPROVAL_SESSION_ENDED: entry({
    stage: 'gate',
    kind: 'denied',
    retry: 'never',
    say: () => `The session or its run ended while a person was asked about this call. ${FINAL}`,
  }),
  APPROVAL_NO_ROUTE: entry({
    stage: 'gate',
    kind: 'denied',
    retry: 'never',
    say: () => `This call needs a person's approval, and there is nobody who could give it. ${FINAL}`,
    fix: 'Name approvers in the policy or in the asking rule.',
  }),
  APPROVAL_DENIED_AT_ONCE: entry({
    stage: 'gate',
    kind: 'denied',
    retry: 'never',
    say: (d: { reason: string }) =>
      `This call needs a person's approval and was denied without asking: ${d.reason}. ${FINAL}`,
    fix: 'Let the run ask, or grant the call beforehand.',
  }),
  APPROVAL_NOT_ASKED: entry({
    stage: 'gate',
    kind: 'denied',
    retry: 'never',
    say: () => `This call needs a person's approval, and the question could not be registered. ${FINAL}`,
    fix: "See the worker's log for this call id.",
  }),
  APPROVAL_UNAVAILABLE: entry({
    stage: 'gate',
    kind: 'denied',
    retry: 'never',
    say: () => `This call needs a person's approval, and those who ask people could not be reached. ${FINAL}`,
    fix: 'Start what asks the approvers, and make sure that the worker can reach it.',
  }),
  APPROVAL_STORE_FAILED: entry({
    stage: 'gate',
    kind: 'denied',
    retry: 'never',
    say: () => `This call needs a person's approval, and the question or its answer could not be stored. ${FINAL}`,
    fix: 'See sallyport doctor.',
  }),
  APPROVAL_MALFORMED: entry({
    stage: 'gate',
    kind: 'denied',
    retry: 'never',
    say: () => `This call needs a person's approval, and the answer was none of those offered. ${FINAL}`,
    fix: 'Correct what passes the decisions on.',
  }),
  APPROVAL_ALREADY_DECIDED: entry({
    stage: 'gate',
    kind: 'denied',
    retry: 'never',
    say: () => `The approval that was shown for this call had already been decided or used. ${FINAL}`,
  }),
  APPROVAL_MISMATCH: entry({
    stage: 'gate',
    kind: 'denied',
    retry: 'never',
    say: (d: { what: string }) => `What was approved is not what would run now (${d.what} changed). ${FINAL}`,
  }),
} as const;

/**
 * Reasons why `ctx.platform` refuses. The tool gets them as a ToolFailure that is thrown. A tool that does not catch it ends `failed`, with
 * this code among the facts.
 */
const PLATFORM_ERRORS = {
  PLATFORM_NONE: entry({
    stage: 'execute',
    kind: 'failed',
    retry: 'never',
    say: (d: { missing: string }) => `There is nowhere to send to: the session has no ${d.missing}.`,
    fix: 'Open the session with platform and channel.',
  }),
  PLATFORM_UNKNOWN: entry({
    stage: 'execute',
    kind: 'failed',
    retry: 'after-the-fix',
    say: (d: { platform: string }) => `No platform "${d.platform}" is configured here.`,
    fix: 'Add it to `platforms` in the configuration of workers and gateway.',
  }),
  CHANNEL_REFUSED: entry({
    stage: 'execute',
    kind: 'failed',
    retry: 'never',
    say: () => 'This tool may send to the channel of its session only.',
    fix: 'Allow more with `channels` of the platform.',
  }),
  EFFECT_LIMIT: entry({
    stage: 'execute',
    kind: 'failed',
    retry: 'never',
    say: (d: { limit: number; what: string }) => `A call may send ${d.limit} ${d.what} to its platform, not more.`,
    fix: 'Send less, or raise effects.perCall and effects.bytesPerCall.',
  }),
  EFFECT_TOO_LARGE: entry({
    stage: 'execute',
    kind: 'failed',
    retry: 'never',
    say: (d: { problem: string }) => `It could not be sent: ${d.problem}.`,
  }),
  EFFECT_INVALID: entry({
    stage: 'execute',
    kind: 'failed',
    retry: 'never',
    say: (d: { problem: string }) => `It could not be sent: ${d.problem}.`,
    fix: 'Correct the tool: its author called ctx.platform with something else than it takes.',
  }),
  EFFECT_CONFLICT: entry({
    stage: 'execute',
    kind: 'failed',
    retry: 'never',
    say: () => 'Under this key something else was sent before: the call was run again and did other things.',
    fix: 'Let the tool name its effects with a key.',
  }),
  EFFECT_FENCED: entry({
    stage: 'execute',
    kind: 'failed',
    retry: 'never',
    say: () => 'This call is no longer run here; nothing was sent.',
  }),
  EFFECT_FAILED: entry({
    stage: 'execute',
    kind: 'failed',
    retry: 'never',
    say: (d: { problem: string }) => `The platform did not take it: ${d.problem}.`,
    fix: 'See: sallyport messages list --state failed',
  }),
  EFFECT_UNPUBLISHED: entry({
    stage: 'execute',
    kind: 'failed',
    retry: 'after-a-while',
    say: () => 'It could not be sent now.',
    fix: "See the worker's log for the call id.",
  }),
  PLATFORM_TIMEOUT: entry({
    stage: 'execute',
    kind: 'failed',
    retry: 'never',
    say: () => 'The platform did not answer in time; the operation may still be done.',
  }),
  OUTBOUND_FULL: entry({
    stage: 'execute',
    kind: 'failed',
    retry: 'after-a-while',
    say: () => 'Too much waits to be sent already.',
    fix: 'Find out why nothing goes out; then raise effects.queuedBytes if it has to be.',
  }),
};

/** Errors of the checks on a call: rules, loop detection, budgets, approvals, hooks, secrets, and the limits on what it may send. */
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
  ...APPROVAL_ERRORS,
  HOOK_BLOCKED: entry({
    stage: 'gate',
    kind: 'blocked',
    retry: 'never',
    say: (d: { hook: string; reason: string }) => d.reason,
    fix: 'The hook <hook> decided so; see its own documentation.',
  }),
  // The message is the same whatever went wrong: the cause could show the model how to get past the check.
  HOOK_FAILED: entry({
    stage: 'gate',
    kind: 'blocked',
    retry: 'never',
    say: () =>
      'The call was not run, because a check of it could not be completed. Do not try again; tell the operator.',
    fix: "See the worker's log for this call id, and sallyport doctor.",
  }),
  HOOK_ARGUMENTS_INVALID: entry({
    stage: 'gate',
    kind: 'blocked',
    retry: 'never',
    say: (d: { hook: string; tool: string; problems: string[] }) =>
      `The call was not run: the hook ${d.hook} changed the arguments of ${d.tool}, and they are wrong now: ${d.problems.join('; ')}.`,
    fix: "Correct the hook: what it makes of the arguments must match the tool's input schema.",
  }),
  // The message contains nothing of the result or of the cause: the hook may exist to keep exactly that from the model.
  HOOK_RESULT_WITHHELD: entry({
    stage: 'execute',
    kind: 'blocked',
    retry: 'never',
    say: (d: { tool: string; hook: string }) =>
      `${d.tool} ran, but its result is withheld: the hook ${d.hook} could not check it. Do not call it again to get the result; tell the operator.`,
    fix: "See the worker's log for this call id, and sallyport doctor. What the tool did is done.",
  }),
  // None of the errors about secrets contains the value of a secret.
  SECRET_REFERENCE_INVALID: entry({
    stage: 'identify',
    kind: 'invalid',
    retry: 'never',
    say: (d: { tool: string; problem: string }) =>
      `A reference to a secret in the arguments of ${d.tool} was not understood: ${d.problem}. It reads secret:NAME or \${secret:NAME}; for the letters themselves write secret::NAME or $\${secret:NAME}.`,
    fix: 'See docs/secrets.md.',
  }),
  SECRET_UNDECLARED: entry({
    stage: 'identify',
    kind: 'denied',
    retry: 'never',
    say: (d: { tool: string; secret: string }) =>
      `${d.tool} does not take the secret ${d.secret}. For the letters themselves write secret::${d.secret} or $\${secret:${d.secret}}.`,
    fix: "Add the name to the tool's own `secrets`, if it should have it.",
  }),
  SECRET_DENIED: entry({
    stage: 'identify',
    kind: 'denied',
    retry: 'never',
    say: (d: { tool: string; secret: string; agent: string }) =>
      `Agent ${d.agent} may not use the secret ${d.secret} with ${d.tool}.`,
    fix: 'Add the name to the agent under `secrets` in the policy.',
  }),
  SECRET_UNKNOWN: entry({
    stage: 'identify',
    kind: 'invalid',
    retry: 'after-the-fix',
    say: (d: { tool: string; secret: string }) => `There is no secret ${d.secret} here for ${d.tool}.`,
    fix: 'Configure where it comes from, in secrets.providers of the worker.',
  }),
  SECRET_UNAVAILABLE: entry({
    stage: 'execute',
    kind: 'failed',
    retry: 'after-a-while',
    say: (d: { tool: string; secret: string; problem: string }) =>
      `The secret ${d.secret} could not be read, so ${d.tool} did not run: ${d.problem}.`,
    fix: 'See the log of the worker, and docs/secrets.md.',
  }),
  ...PLATFORM_ERRORS,
} as const;

type PlatformErrorCode = keyof typeof PLATFORM_ERRORS;

type FactsOf<Code extends PlatformErrorCode> = Parameters<(typeof PLATFORM_ERRORS)[Code]['say']>[0];

export interface PlatformRefusal {
  readonly kind: 'refused';
  readonly code: PlatformErrorCode;
  readonly message: string;
}

export function platformRefusal<Code extends PlatformErrorCode>(code: Code, facts: FactsOf<Code>): PlatformRefusal {
  const { say } = PLATFORM_ERRORS[code] as { say: (facts: FactsOf<Code>) => string };
  return { kind: 'refused', code, message: say(facts) };
}
