import { setTimeout as pause } from 'node:timers/promises';
import { defineHooks } from 'sallyport/gate';
import { openJournal } from '../journal.ts';
import { monotonicMs } from '../monotonic.ts';
import { springTrap, trappable } from '../stop-trap.ts';
import { MODULE } from '../tools.ts';

/** The period in which a hook held a call. */
export interface HookEntry {
  readonly pid: number;
  readonly callId: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Longer than the hook waits, even if its worker is stopped in the meantime: a hook that times out blocks its call. */
const TIMEOUT_MS = 30_000;

// Opened by the first call, because a process that only loads the plugin has no such file.
let opened: ((entry: HookEntry) => void) | undefined;

/** Holds a call. Only calls whose permission is about to be withdrawn have a hold time in their arguments. */
async function hold(callId: string, hookMs: number): Promise<void> {
  const fromMs = monotonicMs();
  trappable.add(callId);
  springTrap('hook', callId);
  await pause(hookMs);
  opened ??= openJournal<HookEntry>(process.env['CHAOS_HOOKS']!);
  opened({ pid: process.pid, callId, fromMs, toMs: monotonicMs() });
}

// A plugin is what its file exports by default.
// oxlint-disable-next-line import/no-default-export
export default defineHooks({
  id: 'slow',
  hooks: [
    {
      id: 'slow',
      on: 'before_tool_call',
      tools: [`${MODULE}.*`],
      timeoutMs: TIMEOUT_MS,
      run: ({ callId, arguments: { hookMs } }) => (typeof hookMs === 'number' ? hold(callId, hookMs) : undefined),
    },
  ],
});
