import { entry } from './error-entry.ts';

/**
 * Reasons why `ctx.platform` refuses. Thrown in the tool as ToolFailure; a tool that does not catch it ends `failed` with this code among
 * the facts.
 */
export const PLATFORM_ERRORS = {
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
export type PlatformErrorCode = keyof typeof PLATFORM_ERRORS;

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
