/**
 * Reads for everybody who asks, one read at a time. Who comes while a read is under way shares the next one: that one may have
 * begun before what they have just written.
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
