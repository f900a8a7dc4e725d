import type { CallId } from './ids.ts';

/** What a model is told about a call that goes on: that it is not lost, how to get at it, and that asking again is wrong. */
export function pendingText({ callId, approval }: { readonly callId: CallId; readonly approval?: string }): string {
  const state = approval === undefined ? 'is still running' : 'waits for a person to approve it';
  return `The call ${state} as ${callId}. Do not make it again: ask for its result by this id (tasks.wait or tasks.check), or stop it with tasks.cancel.`;
}
