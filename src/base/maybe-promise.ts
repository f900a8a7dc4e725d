/**
 * A value that is usually available at once, or a promise of it. Callers await it only if it is a promise: each await costs a short call
 * noticeable time.
 */
export type MaybePromise<Value> = Value | Promise<Value>;

/**
 * Whether the value has a method `then`, so that `await` would call it and wait. Throws if reading the member `then` throws, as `await`
 * does.
 */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  return typeof (value as { then?: unknown }).then === 'function';
}

/** Calls `follow` at once if the value is already there, and waits only for a promise: each wait makes a short call slower. */
export function andThen<Value, Next>(
  soon: MaybePromise<Value>,
  follow: (value: Value) => MaybePromise<Next>,
): MaybePromise<Next> {
  return soon instanceof Promise ? soon.then((value) => follow(value)) : follow(soon);
}

/** Runs `attempt`; if it throws or its promise rejects, returns `otherwise(thrown)`. Like `andThen`, it waits only for a promise. */
export function orElse<Value>(
  attempt: () => MaybePromise<Value>,
  otherwise: (thrown: unknown) => Value,
): MaybePromise<Value> {
  try {
    const soon = attempt();
    return soon instanceof Promise ? soon.catch(otherwise) : soon;
  } catch (thrown) {
    return otherwise(thrown);
  }
}
