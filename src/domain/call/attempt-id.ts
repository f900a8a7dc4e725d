import type { CallId } from '../identity/ids.ts';

declare const brand: unique symbol;
/**
 * `<call id>/<fence>`: names one worker's hold of one call. All events and spans of this attempt contain the id. When the call is delivered
 * again, the new attempt gets its own id.
 */
export type AttemptId = string & { readonly [brand]: 'AttemptId' };

export function attemptIdOf({ callId, fence }: { readonly callId: CallId; readonly fence: number }): AttemptId {
  return `${callId}/${fence}` as AttemptId;
}
