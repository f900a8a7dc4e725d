/**
 * What cancelled a call. `request`: the request that made the call was aborted, or its stream was closed. `caller`: the caller cancelled it
 * by its id. `agent`: an agent cancelled it by its id with a tool of the module `tasks`. `parent`: the call that made it as a nested call
 * stopped waiting for it.
 */
export type CancelledBy = 'request' | 'caller' | 'agent' | 'parent' | 'operator';

/** `by` is absent where a worker ends the call and knows only that it was cancelled. */
export type CancelFacts = { readonly by?: CancelledBy };
