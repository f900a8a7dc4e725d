import type { CallToolResult } from '@modelcontextprotocol/server';
import type { CallId } from '../../domain/identity/ids.ts';
import type { EarlierCall } from './owed-calls.ts';
import { earlierMeta, META, timeOf } from './show-outcome.ts';

/** How the client finds the call later: with the same arguments, with the same arguments and the same key, or only with the call id. */
export type WayBack = 'arguments' | 'key' | 'id';

const HOW: Readonly<Record<WayBack, string>> = {
  arguments: 'call this tool again later, with exactly the same arguments',
  key: `call this tool again later, with exactly the same arguments and the same ${META.idempotencyKey} in _meta`,
  id: `call this tool again later, with the id of the call as ${META.callId} in _meta`,
};

export interface PendingCall {
  readonly callId: CallId;
  readonly approval?: string;
  readonly wayBack: WayBack;
  readonly earlier?: EarlierCall | undefined;
  /**
   * The tool was listed with an output schema. A client then accepts a result without structured content only if the result is an error.
   */
  readonly hasOutputSchema?: boolean | undefined;
}

/** The result for a call that is still going on. The text is for the model, the rest for its client. */
export function showPending({ callId, approval, wayBack, earlier, hasOutputSchema }: PendingCall): CallToolResult {
  const state = approval === undefined ? 'is still running' : 'waits for a person to approve it';
  const since = earlier === undefined ? '' : ` It is your earlier call of ${timeOf(earlier.madeAt)}.`;
  const text = `The call ${state}, as ${callId}.${since} It is not lost. To get its result, ${HOW[wayBack]}: the call is not made a second time.`;
  return {
    content: [{ type: 'text', text }],
    ...(hasOutputSchema === true ? { isError: true } : {}),
    _meta: {
      [META.callId]: callId,
      [META.state]: { state: 'pending', ...(approval === undefined ? {} : { approval }) },
      ...earlierMeta(earlier),
    },
  };
}
