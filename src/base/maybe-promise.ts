/**
 * A value that is usually available at once, or a promise of it. Callers await it only if it is a promise: each await costs a short call
 * noticeable time.
 */
export type MaybePromise<Value> = Value | Promise<Value>;
