import { useEffect, useState } from 'preact/hooks';

/** How long a question must have been on the screen before a key or a click can decide it. */
const LOOK_MS = 700;

/**
 * Whether this question was on the screen long enough. This prevents accidental decisions: one question may replace another just when the
 * key is pressed, or a person may type keys that were meant for another window.
 */
export function useLookedAt(id: string | undefined): boolean {
  const [seen, setSeen] = useState<string>();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const restart = (): void => {
      clearTimeout(timer);
      setSeen(undefined);
      if (document.visibilityState === 'visible' && id !== undefined) timer = setTimeout(() => setSeen(id), LOOK_MS);
    };
    restart();
    document.addEventListener('visibilitychange', restart);
    addEventListener('focus', restart);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', restart);
      removeEventListener('focus', restart);
    };
  }, [id]);
  return id !== undefined && seen === id;
}
