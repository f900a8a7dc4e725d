import { setTimeout as pause } from 'node:timers/promises';
import { defineHooks } from 'sallyport/gate';
import { openJournal } from '../journal.ts';
import { monotonicMs } from '../monotonic.ts';
import { springTrap, trappable } from '../stop-trap.ts';
import { MODULE } from '../tools.ts';

/** The time in which a hook held a call. */
export interface HookEntry {
  readonly pid: number;
  readonly callId: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Longer than the hook waits, also if its worker is stopped meanwhile: a hook that times out blocks its call. */
const TIMEOUT_MS = 30_000;

// Opened by the first call: whoever only loads the plugin has no such file.
let opened: ((entry: HookEntry) => void) | undefined;

/** Calls whose permission is about to be withdrawn say how long the hook holds them. */
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
