import type { CallId } from '../../domain/ids.ts';
import type { JsonObject } from '../../domain/json.ts';
import { canonicalJson } from '../../wire/canonical-json.ts';
import { sha256 } from '../../wire/digest.ts';

const MOST_KNOWN = 10_000;

/**
 * Calls that a client was told are pending, by who made them and what was asked. A model cannot name an id in `_meta`; it can ask for the
 * same thing again, and is then given the call that it made already. Kept in memory: after a restart the same again is a new call.
 */
export interface PendingCalls {
  remember(asked: AskedCall, callId: CallId): void;
  find(asked: AskedCall): CallId | undefined;
  forget(asked: AskedCall): void;
}

export interface AskedCall {
  readonly bearer: string;
  readonly run: string;
  readonly tool: string;
  readonly arguments: JsonObject;
}

export function createPendingCalls(): PendingCalls {
  const known = new Map<string, CallId>();
  return {
    remember(asked, callId) {
      if (known.size >= MOST_KNOWN) known.delete(known.keys().next().value!);
      known.set(keyOf(asked), callId);
    },
    find: (asked) => known.get(keyOf(asked)),
    forget: (asked) => void known.delete(keyOf(asked)),
  };
}

function keyOf(asked: AskedCall): string {
  return sha256(canonicalJson({ ...asked }));
}
