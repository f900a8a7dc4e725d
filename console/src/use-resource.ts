import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

export interface Resource<T> {
  readonly data: T | undefined;
  /** The error of the last attempt. Older data stays available next to it. */
  readonly error: unknown;
  readonly isLoading: boolean;
  readonly reload: () => void;
  /**
   * Changes the shown data. If a read is under way, the change is applied to its answer too, because the answer may be older than the
   * change.
   */
  readonly change: (next: (data: T) => T) => void;
}

/** Reads when the component is first shown and whenever `inputs` change. An answer to an outdated read is dropped. */
export function useResource<T>(read: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): Resource<T> {
  const [state, setState] = useState<{ data: T | undefined; error: unknown; isLoading: boolean }>({
    data: undefined,
    error: undefined,
    isLoading: true,
  });
  const running = useRef<AbortController>(undefined);
  const missed = useRef<((data: T) => T)[] | undefined>(undefined);
  const latest = useRef(read);
  latest.current = read;

  const reload = useCallback(() => {
    running.current?.abort();
    const abort = new AbortController();
    running.current = abort;
    missed.current = [];
    setState((before) => ({ ...before, isLoading: true }));
    latest.current(abort.signal).then(
      (answer) => {
        if (abort.signal.aborted) return;
        const data = (missed.current ?? []).reduce((changed, apply) => apply(changed), answer);
        missed.current = undefined;
        setState({ data, error: undefined, isLoading: false });
      },
      (error: unknown) => {
        if (abort.signal.aborted) return;
        missed.current = undefined;
        setState((before) => ({ data: before.data, error, isLoading: false }));
      },
    );
  }, []);

  useEffect(() => {
    reload();
    return () => running.current?.abort();
  }, inputs);

  const change = useCallback((next: (data: T) => T) => {
    missed.current?.push(next);
    setState((before) => (before.data === undefined ? before : { ...before, data: next(before.data) }));
  }, []);
  return { ...state, reload, change };
}
