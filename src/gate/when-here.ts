import type { Soon } from '../domain/soon.ts';

/** Goes on at once with an answer that is here, and waits for promises only. */
export function whenHere<Value, Next>(soon: Soon<Value>, follow: (value: Value) => Soon<Next>): Soon<Next> {
  return soon instanceof Promise ? soon.then((value) => follow(value)) : follow(soon);
}

/** The same for what throws or rejects. */
export function orElse<Value>(attempt: () => Soon<Value>, otherwise: (thrown: unknown) => Value): Soon<Value> {
  try {
    const soon = attempt();
    return soon instanceof Promise ? soon.catch(otherwise) : soon;
  } catch (thrown) {
    return otherwise(thrown);
  }
}
