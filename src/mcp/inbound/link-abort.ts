import type { McpHome } from './mcp-home.ts';

/**
 * The SDK ends its signal also when an exchange is simply over, and when this gateway stops. A call that goes on must not hear that: it
 * would be cancelled, and whoever asks for it after a restart has to find it.
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
