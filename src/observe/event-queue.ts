import type { DiagnosticEvent, DiagnosticEventOf } from '../domain/events/diagnostic-event.ts';
import type { DiagnosticListener } from '../domain/ports/events.ts';
import { isThenable } from '../base/maybe-promise.ts';

/** An entry of the queue that stands for events which were dropped because the queue was full. */
interface Gap {
  readonly kind: 'gap';
  dropped: number;
  lastSeq: number;
}

export interface QueueSettings {
  readonly listener: DiagnosticListener;
  readonly maxWaiting: number;
  /** Called once at the first loss, and once at the first throw. */
  readonly onError: (problem: string, error?: unknown) => void;
}

/**
 * Min events that are delivered in one turn of the event loop. From a long queue an eighth is delivered per turn; otherwise a busy process
 * would never catch up.
 */
const AT_ONCE = 64;
/** Max entries at the front of the array that were already delivered. If there are more, the array is shortened. */
const MAX_USED_UP = 1024;

/**
 * The events that one listener has not received yet, in order, at most `maxWaiting`. Emitting never runs a listener: delivery begins in
 * its own turn of the event loop, and one event is finished before the next is delivered. A listener that is slow or throws loses only its
 * own events. It gets the number of lost events as soon as it can receive again, before any later event.
 */
export class EventQueue {
  readonly #settings: QueueSettings;
  #waiting: (DiagnosticEvent | Gap)[] = [];
  #head = 0;
  /** Events that were dropped after the last waiting event. */
  #overflow: Gap | undefined;
  /** Number of lost events to report next. */
  #lost = 0;
  #lostSeq = 0;
  /** True after the listener threw on the report of its losses. The report is repeated after the next event. */
  #lossReportFailed = false;
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

  /** Ends delivery. Waiting events are dropped. */
  stop(): void {
    this.#open = false;
    this.#waiting = [];
    this.#head = 0;
  }

  /** Waits until all events are delivered or the time is over, then stops. */
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
      if (this.#lost > 0 && !this.#lossReportFailed) return this.#takeLoss();
      const first = this.#takeFirst() ?? this.#takeOverflow();
      if (first === undefined || first.kind !== 'gap') {
        this.#lossReportFailed = false;
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
    if (this.#head === this.#waiting.length || this.#head > MAX_USED_UP) {
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

  /** Calls the listener. Returns a promise only if the listener returned one. */
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
    this.#lossReportFailed = isLoss;
    this.#report('a listener of events threw', error);
  }

  #report(problem: string, error?: unknown): void {
    if (this.#reported.has(problem)) return;
    this.#reported.add(problem);
    this.#settings.onError(problem, error);
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
