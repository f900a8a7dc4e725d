import type { DiagnosticEvent, DiagnosticEventOf } from '../domain/diagnostic-event.ts';
import type { DiagnosticListener } from '../ports/events.ts';

/** Events that had no room, where they would have stood. */
interface Gap {
  readonly kind: 'gap';
  dropped: number;
  lastSeq: number;
}

export interface QueueSettings {
  readonly listener: DiagnosticListener;
  readonly maxWaiting: number;
  /** Told at the first loss, and at the first throw. */
  readonly onTrouble: (problem: string, error?: unknown) => void;
}

/** Between two looks at the rest of the world; of a long queue an eighth, or a busy process would never catch up. */
const AT_ONCE = 64;
/** Places in front that are used up; beyond this they are given back. */
const MOST_USED_UP = 1024;

/**
 * What one listener has not heard yet, in order, at most `maxWaiting` events. Delivery is never part of the telling: it begins in a turn
 * of its own, and one event is over before the next is handed on. A listener that is slow or throws loses its own events only; it is
 * told how many as soon as it can hear, before anything that came later.
 */
export class EventQueue {
  readonly #settings: QueueSettings;
  #waiting: (DiagnosticEvent | Gap)[] = [];
  #head = 0;
  /** After everything that waits. */
  #overflow: Gap | undefined;
  /** To be told next. */
  #lost = 0;
  #lostSeq = 0;
  /** It threw when it was told of its losses: it is told again after it has heard something else. */
  #deaf = false;
  #delivery: Promise<void> | undefined;
  #open = true;
  readonly #reported = new Set<string>();

  constructor(settings: QueueSettings) {
    this.#settings = settings;
  }

  offer(event: DiagnosticEvent): void {
    if (!this.#open) return;
    if (this.#waiting.length - this.#head >= this.#settings.maxWaiting) return this.#drop(event.seq);
    if (this.#overflow !== undefined) this.#waiting.push(this.#overflow);
    this.#overflow = undefined;
    this.#waiting.push(event);
    this.#delivery ??= this.#deliver();
  }

  /** Nothing is handed on after this, not even what waits. */
  stop(): void {
    this.#open = false;
    this.#waiting = [];
    this.#head = 0;
  }

  /** Until all is heard, or the time is over. */
  async drain(waitMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const longEnough = new Promise<void>((resolve) => (timer = setTimeout(resolve, waitMs)));
    await Promise.race([this.#delivery, longEnough]);
    clearTimeout(timer);
    this.stop();
  }

  #drop(seq: number): void {
    this.#overflow ??= { kind: 'gap', dropped: 0, lastSeq: seq };
    this.#overflow.dropped += 1;
    this.#overflow.lastSeq = seq;
    this.#report('a listener of events is too slow and loses some');
  }

  async #deliver(): Promise<void> {
    await nextTurn();
    for (let left = this.#atOnce(); this.#open; left -= 1) {
      const event = this.#next();
      if (event === undefined) break;
      const hearing = this.#hand(event);
      if (hearing !== undefined) await hearing;
      if (left > 1) continue;
      await nextTurn();
      left = this.#atOnce() + 1;
    }
    this.#delivery = undefined;
  }

  #atOnce(): number {
    return Math.max(AT_ONCE, (this.#waiting.length - this.#head) >> 3);
  }

  #next(): DiagnosticEvent | undefined {
    for (;;) {
      if (this.#lost > 0 && !this.#deaf) return this.#takeLoss();
      const first = this.#takeFirst() ?? this.#takeOverflow();
      if (first === undefined || first.kind !== 'gap') {
        this.#deaf = false;
        return first;
      }
      this.#lost += first.dropped;
      this.#lostSeq = first.lastSeq;
    }
  }

  #takeFirst(): DiagnosticEvent | Gap | undefined {
    const first = this.#waiting[this.#head];
    if (first === undefined) return undefined;
    this.#head += 1;
    if (this.#head === this.#waiting.length || this.#head > MOST_USED_UP) {
      this.#waiting = this.#waiting.slice(this.#head);
      this.#head = 0;
    }
    return first;
  }

  #takeOverflow(): Gap | undefined {
    const overflow = this.#overflow;
    this.#overflow = undefined;
    return overflow;
  }

  #takeLoss(): DiagnosticEventOf<'events.lost'> {
    const lost = this.#lost;
    this.#lost = 0;
    return Object.freeze({ kind: 'events.lost', seq: this.#lostSeq, at: Date.now(), lost });
  }

  /** A promise only if the listener gave one. */
  #hand(event: DiagnosticEvent): Promise<void> | undefined {
    try {
      const hearing = this.#settings.listener(event);
      if (!isThenable(hearing)) return undefined;
      return Promise.resolve(hearing).then(
        () => undefined,
        (error: unknown) => this.#failed(event, error),
      );
    } catch (error) {
      this.#failed(event, error);
      return undefined;
    }
  }

  #failed(event: DiagnosticEvent, error: unknown): void {
    const isLoss = event.kind === 'events.lost';
    this.#lost += isLoss ? event.lost : 1;
    this.#lostSeq = event.seq;
    this.#deaf = isLoss;
    this.#report('a listener of events threw', error);
  }

  #report(problem: string, error?: unknown): void {
    if (this.#reported.has(problem)) return;
    this.#reported.add(problem);
    this.#settings.onTrouble(problem, error);
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
