import { AsyncLocalStorage } from 'node:async_hooks';

/** A call whose tool is running. */
export interface StartedCall {
  readonly gate: object;
  readonly tool: string;
  /** The arguments that run, as canonical JSON. */
  readonly canonical: string;
  /**
   * The input object itself. Set only for a tool that no rule or hook applies to, because its input need not be JSON. For other tools calls
   * are compared only by their canonical text, because an object can be changed.
   */
  readonly input?: unknown;
  /**
   * The guards that this call has passed. There are several if a wrapped tool was decorated and wrapped again. Guards are added while the
   * call runs.
   */
  readonly guards: Set<object>;
  /** Set when the call has ended. If code that the tool left running calls a tool later, that is a separate call. */
  isOver: boolean;
  /** What the tool threw at an inner guard, before a framework turned it into text. */
  thrown?: { readonly error: unknown };
}

interface Started {
  readonly call: StartedCall;
  readonly outer: Started | undefined;
}

/** The calls that led to the code that is running now, innermost first. Set inside a tool's code and in everything it awaits. */
const startedCalls = new AsyncLocalStorage<Started>();

/**
 * Returns the call that already passed this gate, if a guard is reached from inside that call with the same tool and the same arguments.
 * That happens when a wrapped tool is decorated (`{ ...wrapped, execute: (...given) => wrapped.execute(...given) }`) and wrapped again. The
 * call was checked, so it is not checked again. Reaching the same guard a second time is a separate call: a tool that calls itself, a
 * decoration that retries.
 */
export function passedBefore(
  guard: object,
  call: Pick<StartedCall, 'gate' | 'tool' | 'canonical' | 'input'>,
): StartedCall | undefined {
  let inner = startedCalls.getStore();
  // Skips guards of other gates. They may be between two guards of this gate, and it is still the same call.
  while (inner !== undefined && inner.call.gate !== call.gate) inner = inner.outer;
  const found = inner?.call;
  if (found === undefined || found.isOver || found.tool !== call.tool || found.guards.has(guard)) return undefined;
  const isSameInput = typeof call.input === 'object' && call.input !== null && call.input === found.input;
  if (!isSameInput && call.canonical !== found.canonical) return undefined;
  found.guards.add(guard);
  return found;
}

/** Runs code as part of this call. */
export function enterAs<Result>(call: StartedCall, enter: () => Result): Result {
  return startedCalls.run({ call, outer: startedCalls.getStore() }, enter);
}

/**
 * Wraps the updates of a tool so that each one is produced as part of this call: a generator's code runs in the context of the code that
 * requests the next update.
 */
export function updatesAs(call: StartedCall, updates: AsyncIterable<unknown>): AsyncIterable<unknown> {
  return {
    [Symbol.asyncIterator]() {
      const inside = <Result>(act: () => Result): Result => enterAs(call, act);
      const iterator = inside(() => updates[Symbol.asyncIterator]());
      return {
        next: () => inside(() => iterator.next()),
        return: async (value?: unknown) =>
          (await inside(() => iterator.return?.(value))) ?? { done: true as const, value },
      };
    },
  };
}
