import { planeError } from '../domain/errors/errors.ts';
import type { CallRecord } from '../domain/call/call.ts';
import { parseScopedId, type CallId } from '../domain/identity/ids.ts';
import type { CallReader } from '../domain/ports/call-store.ts';

/** Throws CALL_UNKNOWN for a text that cannot be a call id, before the store is asked. */
export function asCallId(text: string): CallId {
  if (parseScopedId(text) === undefined) throw planeError('CALL_UNKNOWN', { callId: text.slice(0, 80) });
  return text as CallId;
}

export async function readKnownCall(store: CallReader, asked: string): Promise<CallRecord> {
  const callId = asCallId(asked);
  const record = await store.readCall(callId);
  if (record === undefined) throw planeError('CALL_UNKNOWN', { callId });
  return record;
}
