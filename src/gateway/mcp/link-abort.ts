import type { McpShared } from './mcp-shared.ts';

/**
 * A signal that is aborted only by the client. The SDK also aborts its own signal when an exchange is simply over and when this gateway
 * stops. Such an abort must not reach a call that still runs: it would cancel the call, which a client can come back for after a restart.
 */
export function linkAbort(
  outer: AbortSignal,
  shared: Pick<McpShared, 'isStopping'>,
): { readonly signal: AbortSignal; readonly unlink: () => void } {
  const own = new AbortController();
  const onAbort = (): void => {
    if (!shared.isStopping()) own.abort();
  };
  if (outer.aborted) onAbort();
  outer.addEventListener('abort', onAbort, { once: true });
  return { signal: own.signal, unlink: () => outer.removeEventListener('abort', onAbort) };
}
