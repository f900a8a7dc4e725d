import { stopsOf, type History } from '../history/history.ts';
import { STOP_AT_SEND } from '../nemesis/fault.ts';
import type { EffectLine } from '../workload/effect-log.ts';
import { SLACK_MS } from './check.ts';

/**
 * A worker starts a tool only on an answer of the store that is at most this old (docs/decisions/2026-11-17-late-starts.md). A worker that
 * was delayed for longer must ask the store again, and then learns of everything that was acknowledged before it went on.
 */
export const VERDICT_TRUST_MS = 250;

/** Whether this start came too late after a cancel, a revocation or a closing that was acknowledged at `ackMs`. */
export function isLateStart(history: History, start: EffectLine, ackMs: number): boolean {
  return startedOnOldWord(history, start, ackMs) || startedAfterSlack(history, start, ackMs);
}

/** Whether the worker was delayed past the acknowledgement for so long that it had to ask again, but started the tool all the same. */
function startedOnOldWord({ hooks, faults }: History, start: EffectLine, ackMs: number): boolean {
  const holds = [
    // A hook delays its own call, and the store's last answer about that call is older than the hook.
    ...hooks.filter(({ callId }) => callId === start.callId),
    // The trap stops a worker only while none of its calls is between its last check and the start of its tool, so each must ask again.
    ...faults.filter(({ kind }) => kind === STOP_AT_SEND),
  ];
  return holds.some(
    ({ pid, fromMs, toMs }) =>
      pid === start.pid && toMs - fromMs > VERDICT_TRUST_MS && ackMs <= toMs && start.atMs >= toMs,
  );
}

/**
 * Whether the tool started more than SLACK_MS too late after any other delay. A SIGSTOP from outside, or a busy machine, can delay a worker
 * between its last check and the first line of the tool, where it does not ask the store again. Such a tool starts when the worker goes on,
 * so SLACK_MS counts from that time.
 */
function startedAfterSlack(history: History, start: EffectLine, ackMs: number): boolean {
  const stops = stopsOf(history, start.pid, ackMs, start.atMs);
  return start.atMs > Math.max(ackMs, ...stops.map(({ toMs }) => toMs)) + SLACK_MS;
}
