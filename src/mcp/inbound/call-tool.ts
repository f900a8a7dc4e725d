import type { CallToolRequest, CallToolResult, ServerContext } from '@modelcontextprotocol/server';
import type { CallEvent } from '../../domain/call-event.ts';
import type { ToolId } from '../../domain/ids.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { SessionHandle } from '../../domain/session.ts';
import { CallUnderWay, type CallStanding } from './call-under-way.ts';
import { readWish, type CallWish } from './call-wish.ts';
import type { McpCaller, McpHome } from './mcp-home.ts';
import { invalidParams } from './protocol-problem.ts';
import { showPending } from './show-pending.ts';
import { showOutcome } from './show-outcome.ts';

/** Through the whole data path. Who closes the stream of a 2026 call, or cancels, cancels the call. */
export async function callTool(
  home: McpHome,
  caller: McpCaller,
  { params }: CallToolRequest,
  ctx: ServerContext,
): Promise<CallToolResult> {
  const tool = await findTool(home, caller, params.name);
  const wish = readWish(params._meta);
  const session = await home.handleOf(caller, wish.run);
  const abort = linkAbort(ctx.mcpReq.signal);
  try {
    const call = begin(home, session, tool, params.arguments as JsonObject | undefined, wish, ctx, abort.signal);
    return show(caller, await call.next());
  } finally {
    abort.unlink();
  }
}

async function findTool(home: McpHome, caller: McpCaller, name: string): Promise<ToolId> {
  const known = (await home.knownToolsOf(caller)).idOf(name) ?? (await home.toolsOf(caller)).idOf(name);
  if (known === undefined) throw invalidParams('name: there is no such tool', { code: 'TOOL_UNKNOWN' });
  return known;
}

function begin(
  { plane: { client, config } }: McpHome,
  session: SessionHandle,
  tool: ToolId,
  args: JsonObject = {},
  wish: CallWish,
  ctx: ServerContext,
  signal: AbortSignal,
): CallUnderWay {
  const { waitMs } = config.gateway.mcp;
  if (wish.callId !== undefined) return CallUnderWay.found(client, session, wish.callId, { waitMs, signal });
  const { key, trace, traceState } = wish;
  const tell = tellProgress(wish, ctx);
  return CallUnderWay.made(client, session, (hear) =>
    client.call(session, tool, args, {
      waitMs,
      signal,
      onEvent(event) {
        hear(event);
        tell?.(event);
      },
      ...(key === undefined ? {} : { key }),
      ...(trace === undefined ? {} : { trace }),
      ...(traceState === undefined ? {} : { traceState }),
    }),
  );
}

/** Progress only ever grows: what does not is not sent. */
function tellProgress({ progressToken }: CallWish, ctx: ServerContext): ((event: CallEvent) => void) | undefined {
  if (progressToken === undefined) return undefined;
  let last = -Infinity;
  return (event) => {
    if (event.kind !== 'progress') return;
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

function show({ era }: McpCaller, standing: CallStanding): CallToolResult {
  if (standing.kind === 'pending' || standing.kind === 'parked') return showPending(standing);
  const anyStructured = era === '2026';
  if (standing.kind === 'refused') return showOutcome(standing.outcome, { anyStructured });
  return showOutcome(standing.outcome, { anyStructured, callId: standing.callId });
}

/** The SDK ends its signal also when an exchange is simply over; a call that goes on must not hear that. */
function linkAbort(outer: AbortSignal): { readonly signal: AbortSignal; unlink(): void } {
  const own = new AbortController();
  const onAbort = (): void => own.abort();
  if (outer.aborted) onAbort();
  outer.addEventListener('abort', onAbort, { once: true });
  return { signal: own.signal, unlink: () => outer.removeEventListener('abort', onAbort) };
}
