/**
 * Shares reads between callers, so that only one read is under way at a time. A caller that comes during a read waits for the next one: the
 * current read may have begun before the data that this caller has just written.
 */
export function shareNext<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let running: Promise<Value> | undefined;
  let next: Promise<Value> | undefined;

  function start(): Promise<Value> {
    next = undefined;
    const begun = read().finally(() => {
      if (running === begun) running = undefined;
    });
    return (running = begun);
  }

  return () => {
    if (running === undefined) return start();
    return (next ??= running.then(start, start));
  };
}
