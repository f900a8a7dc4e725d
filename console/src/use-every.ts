import { useEffect, useRef } from 'preact/hooks';

/** Calls `run` once per period while the component is shown and the browser tab is visible. */
export function useEvery(periodMs: number, run: () => void): void {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) latest.current();
    }, periodMs);
    return () => clearInterval(timer);
  }, [periodMs]);
}
