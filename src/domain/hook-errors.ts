import { entry } from './error-entry.ts';

/** Endings of calls that a hook decided. */
export const HOOK_CALL_ERRORS = {
  HOOK_BLOCKED: entry({
    stage: 'gate',
    kind: 'blocked',
    retry: 'never',
    say: (d: { hook: string; reason: string }) => d.reason,
    fix: 'The hook named in the facts decided so; see its own documentation.',
  }),
  // One sentence whatever went wrong: the cause could tell the model how to get past the check.
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
} as const;

export const HOOK_PLANE_ERRORS = {
  HOOKS_INVALID: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { problems: string[] }) => `The hooks cannot be used: ${d.problems.join('; ')}.`,
    fix: 'See docs/hooks.md. Nothing is served without the hooks that are configured.',
  }),
} as const;
