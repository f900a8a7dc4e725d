import type { Soon } from '../domain/soon.ts';

/** Calls `follow` at once if the value is already there, and waits only for a promise: each wait makes a short call slower. */
export function whenHere<Value, Next>(soon: Soon<Value>, follow: (value: Value) => Soon<Next>): Soon<Next> {
  return soon instanceof Promise ? soon.then((value) => follow(value)) : follow(soon);
}

/** Runs `attempt`; if it throws or its promise rejects, returns `otherwise(thrown)`. Like `whenHere`, it waits only for a promise. */
export function orElse<Value>(attempt: () => Soon<Value>, otherwise: (thrown: unknown) => Value): Soon<Value> {
  try {
    const soon = attempt();
    return soon instanceof Promise ? soon.catch(otherwise) : soon;
  } catch (thrown) {
    return otherwise(thrown);
  }
}
