import { useEffect, useRef } from 'preact/hooks';

/** Calls `run` at once, and then at most once per period, however often the returned function is called. The last call is never lost. */
export function useAtMostEvery(periodMs: number, run: () => void): () => void {
  const latest = useRef(run);
  latest.current = run;
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const isWanted = useRef(false);
  useEffect(() => () => clearTimeout(timer.current), []);
  const call = (): void => {
    if (timer.current !== undefined) {
      isWanted.current = true;
      return;
    }
    latest.current();
    timer.current = setTimeout(() => {
      timer.current = undefined;
      if (!isWanted.current) return;
      isWanted.current = false;
      call();
    }, periodMs);
  };
  return call;
}
