/**
 * How long a request waits while an identical one is open in this process. A client that lost its connection may send its request again
 * before the process was told that the old connection is gone: the system reports the two sockets in any order, some 10 ms apart. Two
 * calls that are meant to run at the same time pay this wait once.
 */
export const NOTICE_GONE_MS = 100;

interface Place {
  open: number;
  /** Requests that wait for an open one to end, the first one first. */
  readonly waiting: Set<() => void>;
}

/** The open requests of this process, by subject and digest. */
export class OpenRequests {
  readonly #places = new Map<string, Place>();

  enter(name: string): void {
    const place = this.#places.get(name);
    if (place === undefined) this.#places.set(name, { open: 1, waiting: new Set() });
    else place.open += 1;
  }

  /** `isOwed`: the call of this request can be taken now, so one of the waiting requests is woken. Without any open request all are. */
  leave(name: string, isOwed: boolean): void {
    const place = this.#places.get(name);
    if (place === undefined) return;
    place.open -= 1;
    if (place.open === 0) this.#places.delete(name);
    const woken = place.open === 0 ? [...place.waiting] : isOwed ? [...place.waiting].slice(0, 1) : [];
    for (const wake of woken) wake();
  }

  /**
   * Waits until an identical request has let go of its call, until none is open, or for `NOTICE_GONE_MS`. Returns whether one was open.
   */
  notice(name: string, signal: AbortSignal): Promise<boolean> {
    const place = this.#places.get(name);
    if (place === undefined || signal.aborted) return Promise.resolve(place !== undefined);
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        place.waiting.delete(wake);
        resolve(true);
      };
      const timer = setTimeout(wake, NOTICE_GONE_MS);
      signal.addEventListener('abort', wake);
      place.waiting.add(wake);
    });
  }
}
