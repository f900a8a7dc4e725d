import { useEffect, useState } from 'preact/hooks';

const SECOND_PRESS_MS = 4000;

export interface SecondPress {
  /** True after the first press; the next press acts. */
  readonly isArmed: boolean;
  /** Calls `run` on the second press, or at once if one press is enough. */
  readonly press: (run: () => void) => void;
}

/** Requires two presses for critical actions. The first press expires after a while, and when `subject` changes. */
export function useSecondPress(isNeeded: boolean, subject: string | undefined): SecondPress {
  const [armed, setArmed] = useState<string>();
  useEffect(() => {
    if (armed === undefined) return undefined;
    const timer = setTimeout(() => setArmed(undefined), SECOND_PRESS_MS);
    return () => clearTimeout(timer);
  }, [armed]);
  const isArmed = armed !== undefined && armed === subject;
  return {
    isArmed,
    press: (run) => {
      if (isNeeded && !isArmed) {
        setArmed(subject);
        return;
      }
      setArmed(undefined);
      run();
    },
  };
}
