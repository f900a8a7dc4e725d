import { useEffect, useState } from 'preact/hooks';

const SECOND_PRESS_MS = 4000;

export interface SecondPress {
  /** The first press was made; the next one does it. */
  readonly isArmed: boolean;
  /** Calls back on the second press, or at once where one is enough. */
  readonly press: (run: () => void) => void;
}

/** Two presses for what is critical. Forgets the first one after a while, and when `subject` changes. */
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
