import type { ServerContext } from '@modelcontextprotocol/server';
import type { CallEvent } from '../../domain/call-event.ts';
import type { CallWish } from './call-wish.ts';

/** Tells the client what it wants to hear of a call on the way. Progress only ever grows: what does not is not sent. */
export function hearEvents(
  { progressToken }: CallWish,
  ctx: ServerContext,
  hear: (event: CallEvent) => void,
): (event: CallEvent) => void {
  let last = -Infinity;
  return (event) => {
    hear(event);
    if (event.kind !== 'progress' || progressToken === undefined) return;
    const { done, total, message } = event;
    const progress = done ?? (last === -Infinity ? 0 : last + 1);
    if (progress <= last) return;
    last = progress;
    const params = {
      progressToken,
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    };
    ctx.mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
}
