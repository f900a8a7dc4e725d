import type { ServerContext } from '@modelcontextprotocol/server';
import type { CallEvent, NoticeLevel } from '../../domain/call/call-event.ts';
import type { CallMeta } from './call-meta.ts';

const LEVELS: Readonly<Record<NoticeLevel, 'debug' | 'info' | 'warning' | 'error'>> = {
  debug: 'debug',
  info: 'info',
  warn: 'warning',
  error: 'error',
};

/**
 * Sends the client a call's log messages, and progress if it asked for it. In MCP progress must grow, so a value that does not is dropped.
 */
export function forwardEvents(
  { progressToken }: CallMeta,
  ctx: ServerContext,
  onEvent: (event: CallEvent) => void,
): (event: CallEvent) => void {
  let last = -Infinity;
  return (event) => {
    onEvent(event);
    if (event.kind === 'logged') ctx.mcpReq.log(LEVELS[event.level], event.data, 'tool').catch(() => undefined);
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
