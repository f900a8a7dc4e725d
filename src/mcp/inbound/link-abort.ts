/** The SDK ends its signal also when an exchange is simply over; a call that goes on must not hear that. */
export function linkAbort(outer: AbortSignal): { readonly signal: AbortSignal; readonly unlink: () => void } {
  const own = new AbortController();
  const onAbort = (): void => own.abort();
  if (outer.aborted) onAbort();
  outer.addEventListener('abort', onAbort, { once: true });
  return { signal: own.signal, unlink: () => outer.removeEventListener('abort', onAbort) };
}
