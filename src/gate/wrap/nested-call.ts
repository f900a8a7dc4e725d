import { AsyncLocalStorage } from 'node:async_hooks';

/** A call whose tool is being executed. */
export interface EnteredCall {
  readonly gate: object;
  readonly tool: string;
  /** The arguments that run, as canonical JSON. */
  readonly canonical: string;
  /** Of a tool that no rule or hook is for, whose input need not be JSON. Elsewhere only the text counts: an object can be changed. */
  readonly input?: unknown;
  /** The guards that this one call came to: several where a wrapped tool was decorated and wrapped again. Grows. */
  readonly guards: Set<object>;
  /** Set when it has ended: what its tool left running makes calls of its own. */
  isOver: boolean;
  /** What the tool threw at a guard further inside, before a framework made text of it. */
  thrown?: { readonly error: unknown };
}

interface Entered {
  readonly call: EnteredCall;
  readonly outer: Entered | undefined;
}

/** In the code of a tool, and in whatever it waits for: the calls that led there, the innermost one first. */
const entered = new AsyncLocalStorage<Entered>();

/**
 * The call that already passed this gate, when a guard is reached from inside of it with the same tool and the same arguments: a wrapped tool
 * that was decorated (`{ ...wrapped, execute: (...given) => wrapped.execute(...given) }`) and wrapped again. It was checked, so it is not
 * checked again. Whatever comes to the same guard a second time is a call of its own: a tool that calls itself, a decoration that retries.
 */
export function passedBefore(
  guard: object,
  call: Pick<EnteredCall, 'gate' | 'tool' | 'canonical' | 'input'>,
): EnteredCall | undefined {
  let inner = entered.getStore();
  // The checks of another gate between two of ours change nothing about the call.
  while (inner !== undefined && inner.call.gate !== call.gate) inner = inner.outer;
  const found = inner?.call;
  if (found === undefined || found.isOver || found.tool !== call.tool || found.guards.has(guard)) return undefined;
  const isSameInput = typeof call.input === 'object' && call.input !== null && call.input === found.input;
  if (!isSameInput && call.canonical !== found.canonical) return undefined;
  found.guards.add(guard);
  return found;
}

/** Runs code as a part of this call. */
export function enterAs<Result>(call: EnteredCall, enter: () => Result): Result {
  return entered.run({ call, outer: entered.getStore() }, enter);
}

/** The updates of a tool, each made as a part of this call: the code of a generator runs where the next update is asked for. */
export function updatesAs(call: EnteredCall, updates: AsyncIterable<unknown>): AsyncIterable<unknown> {
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
