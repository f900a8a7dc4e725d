import type { RunId, SessionId } from '../domain/identity/ids.ts';
import type { CallList } from '../domain/ports/call-store.ts';

const MAX_LISTED = 1000;

/**
 * Whether calls of a session, or of one of its runs, are under way. Also true when the
 * store has too many calls to list them all, because some of them may be of this session.
 */
export async function hasCalls(store: CallList, session: SessionId, run?: RunId): Promise<boolean> {
  const calls = await store.listCalls({ limit: MAX_LISTED });
  if (calls.length === MAX_LISTED) return true;
  return calls.some((call) => call.session === session && (run === undefined || call.run === run));
}
