import { useEffect, useRef } from 'preact/hooks';
import { listen, type Listener, type Topic } from './live.ts';

/** Listens to a topic while the component is shown. Events go to the handlers of the latest render. */
export function useLive(topic: Topic, listener: Listener): void {
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(
    () =>
      listen(topic, {
        onEvent: (data) => latest.current.onEvent(data),
        onResync: () => latest.current.onResync(),
      }),
    [topic],
  );
}
