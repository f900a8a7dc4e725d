import { entry } from './error-entry.ts';

/** Errors that end calls because of a hook. */
export const HOOK_CALL_ERRORS = {
  HOOK_BLOCKED: entry({
    stage: 'gate',
    kind: 'blocked',
    retry: 'never',
    say: (d: { hook: string; reason: string }) => d.reason,
    fix: 'The hook named in the facts decided so; see its own documentation.',
  }),
  // One sentence whatever went wrong: the cause could show the model how to get past the check.
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
} as const;

export const HOOK_PLANE_ERRORS = {
  HOOKS_INVALID: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { problems: string[] }) => `The hooks cannot be used: ${d.problems.join('; ')}.`,
    fix: 'See docs/hooks.md. Nothing is served without the hooks that are configured.',
  }),
} as const;
