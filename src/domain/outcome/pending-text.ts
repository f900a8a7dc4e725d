import type { CallId } from '../identity/ids.ts';

/** Text for a model about a call that is still under way. It states how to get the result, and that the call must not be made again. */
export function pendingText({ callId, approval }: { readonly callId: CallId; readonly approval?: string }): string {
  const state = approval === undefined ? 'is still running' : 'waits for a person to approve it';
  return `The call ${state} as ${callId}. Do not make it again: ask for its result by this id (tasks.wait or tasks.check), or stop it with tasks.cancel.`;
}
