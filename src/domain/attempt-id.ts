import type { CallId } from './ids.ts';

declare const brand: unique symbol;
/** `<call id>/<fence>`: one worker's hold of one call. Joins everything that was said of that attempt, and nothing of the next. */
export type AttemptId = string & { readonly [brand]: 'AttemptId' };

export function attemptIdOf({ callId, fence }: { readonly callId: CallId; readonly fence: number }): AttemptId {
  return `${callId}/${fence}` as AttemptId;
}
