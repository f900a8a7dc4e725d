import { useEffect, useRef } from 'preact/hooks';

/** While the component is shown and the tab is seen. */
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
