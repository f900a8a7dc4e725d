/**
 * What cancelled a call. `request`: the request that made the call was aborted, or its stream was closed. `caller` and `agent` named the
 * call; `parent` is the call that it was nested in.
 */
export type CancelledBy = 'request' | 'caller' | 'agent' | 'parent' | 'operator';

/** `by` is absent where a worker ends the call and knows only that it was cancelled. */
export type CancelFacts = { readonly by?: CancelledBy };
