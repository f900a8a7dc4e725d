import type { CarriedError, Hello } from './rpc.ts';

/** What the store thread tells the main thread; everything else between them are frames. */
export type ThreadMessage =
  | { readonly kind: 'ready'; readonly hello: Hello }
  | { readonly kind: 'owned-by-another' }
  | { readonly kind: 'failed'; readonly error: CarriedError };

/** The one thing the main thread tells the store thread beside frames; the thread's exit is the answer. */
export const CLOSE = 'close';
