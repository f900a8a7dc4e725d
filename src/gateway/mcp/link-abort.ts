import type { McpHome } from './mcp-home.ts';

/**
 * A signal that is aborted only by the client. The SDK also aborts its own signal when an exchange is simply over and when this gateway
 * stops. That must not reach a call that goes on: it would be cancelled, and a client that asks for it after a restart has to find it.
 */
export function linkAbort(
  outer: AbortSignal,
  home: Pick<McpHome, 'isStopping'>,
): { readonly signal: AbortSignal; readonly unlink: () => void } {
  const own = new AbortController();
  const onAbort = (): void => {
    if (!home.isStopping()) own.abort();
  };
  if (outer.aborted) onAbort();
  outer.addEventListener('abort', onAbort, { once: true });
  return { signal: own.signal, unlink: () => outer.removeEventListener('abort', onAbort) };
}
