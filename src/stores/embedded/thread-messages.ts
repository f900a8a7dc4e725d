import type { CarriedError, Hello } from './rpc.ts';

/** The store thread's first message to the main thread. All later messages between them are frames, except CLOSE. */
export type ThreadMessage =
  | { readonly kind: 'ready'; readonly hello: Hello }
  | { readonly kind: 'owned-by-another' }
  | { readonly kind: 'failed'; readonly error: CarriedError };

/** The only message of the main thread to the store thread that is not a frame. The thread answers by ending. */
export const CLOSE = 'close';
