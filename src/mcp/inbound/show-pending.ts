import type { CallToolResult } from '@modelcontextprotocol/server';
import type { CallId } from '../../domain/ids.ts';
import { META } from './show-outcome.ts';

/** No error: the call goes on. The text is for a model, the rest for its client. */
export function showPending({
  callId,
  approval,
}: {
  readonly callId: CallId;
  readonly approval?: string;
}): CallToolResult {
  const state = approval === undefined ? 'is still running' : 'waits for a person to approve it';
  const text = `The call ${state}, as ${callId}. It is not lost. To get its result, call this tool again later, with exactly the same arguments: the call is not made a second time.`;
  return {
    content: [{ type: 'text', text }],
    _meta: {
      [META.callId]: callId,
      [META.state]: { state: 'pending', ...(approval === undefined ? {} : { approval }) },
    },
  };
}
