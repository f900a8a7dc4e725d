/**
 * Shares reads between callers, one read at a time. A caller that comes while a read is under way shares the next read instead: the current
 * one may have begun before what the caller has just written.
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
