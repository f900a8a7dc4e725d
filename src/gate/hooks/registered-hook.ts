import type { HookContext, HookEventName, HookMatch } from '../../domain/policy/hook.ts';
import { DEFAULT_HOOK_TIMEOUT_MS } from '../../domain/policy/hook.ts';
import { sha256 } from '../../base/sha256.ts';
import { createHookMeter, type HookMeter } from './hook-meter.ts';

/** A hook that was loaded and checked, from a file or a command. */
export interface RegisteredHook {
  /** `plugin.hook`, or the id of a command. Unique. */
  readonly id: string;
  readonly on: HookEventName;
  readonly match: HookMatch;
  readonly priority: number;
  readonly timeoutMs: number;
  /** SHA-256 of the id. Approvals identify the hook by it. */
  readonly digest: string;
  readonly meter: HookMeter;
  /** Calls the hook. The answer is untrusted and may have any shape until it was parsed strictly. */
  readonly run: (event: unknown, context: HookContext) => unknown;
}

export type HookParts = Pick<RegisteredHook, 'id' | 'on' | 'run'> &
  Partial<Pick<RegisteredHook, 'match' | 'priority' | 'timeoutMs'>>;

export function registerHook({ id, on, run, match = {}, priority = 0, timeoutMs }: HookParts): RegisteredHook {
  return Object.freeze({
    id,
    on,
    match,
    priority,
    timeoutMs: timeoutMs ?? DEFAULT_HOOK_TIMEOUT_MS,
    digest: sha256(`hook:${id}`),
    meter: createHookMeter(id, on),
    run,
  });
}
