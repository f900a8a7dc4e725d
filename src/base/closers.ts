/**
 * Resources to close, in the reverse order of `add`. If one of them fails to close, the error is ignored and the others are closed all the
 * same.
 */
export interface Closers {
  add(close: () => Promise<unknown>): void;
  closeAll(): Promise<void>;
}

export function createClosers(): Closers {
  const closers: (() => Promise<unknown>)[] = [];
  return {
    add: (close) => void closers.push(close),
    async closeAll() {
      for (const close of closers.splice(0).reverse()) await close().catch(() => undefined);
    },
  };
}
