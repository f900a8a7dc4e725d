import type { CallId } from '../identity/ids.ts';

declare const brand: unique symbol;
/**
 * `<call id>/<fence>`: one worker's hold of one call. Everything that is emitted about this attempt carries it; the next attempt has
 * another id.
 */
export type AttemptId = string & { readonly [brand]: 'AttemptId' };

export function attemptIdOf({ callId, fence }: { readonly callId: CallId; readonly fence: number }): AttemptId {
  return `${callId}/${fence}` as AttemptId;
}
