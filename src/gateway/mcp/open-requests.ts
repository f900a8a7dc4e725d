/**
 * How long a request waits while an identical one is open in this process. A client that lost its connection may send its request again
 * before this process learns that the old connection is gone: the system reports the two sockets in any order, about 10 ms apart. If two
 * identical calls are meant to run at the same time, the second one is delayed by this time.
 */
export const NOTICE_GONE_MS = 100;

interface Place {
  open: number;
  /** Requests that wait for an open one to end, in the order of their arrival. */
  readonly waiting: Set<() => void>;
}

/**
 * The open requests of this process, by subject and digest. A request is counted as open in the synchronous step in which it stops waiting.
 * So if two identical requests arrive at the same time, the second always finds the first.
 */
export class OpenRequests {
  readonly #places = new Map<string, Place>();

  /** Counts a request as open, without waiting for identical ones. */
  enter(name: string): void {
    const place = this.#places.get(name);
    if (place === undefined) this.#places.set(name, { open: 1, waiting: new Set() });
    else place.open += 1;
  }

  /**
   * Counts a request as no longer open. `lost`: its connection ended without an answer, so one waiting request is woken, which may be its
   * repeat. `over`: it was answered, so one is woken if no other request is open. `told`: its client is asked to come back, so none is
   * woken, because the client has not come back yet.
   */
  leave(name: string, how: 'over' | 'told' | 'lost'): void {
    const place = this.#places.get(name);
    if (place === undefined) return;
    place.open -= 1;
    if (how === 'lost' || (how === 'over' && place.open === 0)) this.wake(name);
    if (place.open === 0 && place.waiting.size === 0) this.#places.delete(name);
  }

  /** Lets the first waiting request go on. The others now wait for that one, because they may be its repeats. */
  wake(name: string): void {
    const [first] = this.#places.get(name)?.waiting ?? [];
    first?.();
  }

  /**
   * Counts a request as open: at once if no identical one is open; otherwise when an open one has lost its connection, when the last open
   * one has its answer, or after `NOTICE_GONE_MS`.
   */
  enterInTurn(name: string, signal: AbortSignal): Promise<void> {
    const place = this.#places.get(name);
    if (place === undefined || signal.aborted) {
      this.enter(name);
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        place.waiting.delete(wake);
        place.open += 1;
        resolve();
      };
      const timer = setTimeout(wake, NOTICE_GONE_MS);
      signal.addEventListener('abort', wake);
      place.waiting.add(wake);
    });
  }
}
