import type { ApprovalId } from '../../domain/policy/approval.ts';
import type { Log } from '../../domain/ports/log.ts';
import type { ApprovalStates } from '../../domain/ports/approval-store.ts';
import type { CallList } from '../../domain/ports/call-store.ts';
import type { FleetReader } from '../../domain/ports/fleet-registry.ts';
import type { StoreTime } from '../../domain/ports/store.ts';
import { randomId } from '../../domain/identity/new-id.ts';
import type { CallRow } from '../api/call-schema.ts';
import { EVENT_TOPICS, type EventTopic } from '../api/event-schema.ts';
import { STATISTICS_LIMITS, type StatisticsView } from '../api/statistics-schema.ts';
import { showWorker } from '../api/show-worker.ts';
import type { WorkerView } from '../api/worker-schema.ts';
import { rowOfCall } from './call-rows.ts';
import type { SettledHistory } from './settled-history.ts';

export type FeedEvent = { readonly id: string } & (
  | { readonly topic: 'calls'; readonly call: CallRow }
  /** The event holds only the id of the question: thousands of events are kept, and a question can be megabytes long. */
  | { readonly topic: 'approvals'; readonly approvalId: ApprovalId }
  | { readonly topic: 'workers'; readonly workers: readonly WorkerView[] }
  | { readonly topic: 'statistics'; readonly statistics: StatisticsView }
);
type NewEvent = FeedEvent extends infer One ? (One extends FeedEvent ? Omit<One, 'id'> : never) : never;

export interface FeedNeeds {
  readonly store: CallList & ApprovalStates & FleetReader & StoreTime;
  readonly history: SettledHistory;
  readonly log: Pick<Log, 'warn'>;
}

export interface FeedSettings {
  readonly pollMs?: number;
  /** How many events are kept for listeners that come back. */
  readonly kept?: number;
  /**
   * How long the feed goes on after the last listener has left. A listener that lost its connection and reconnects within this time misses
   * nothing.
   */
  readonly lingerMs?: number;
}

/**
 * Where a listener begins. `missed`: the events after the one that the listener named. `gap`: the listener named no event, or one that is
 * no longer known, so changes before `ready` may be missing.
 */
export interface Joined {
  readonly position: string;
  readonly missed: readonly FeedEvent[];
  readonly gap: boolean;
  /**
   * Resolves when the feed has read all topics of the listener once: it emits every change after that. If `gap` is true, the listener
   * should now read the current state of these topics itself, because it may have missed earlier changes. Never rejects: it also resolves
   * when the listener leaves or the feed is closed.
   */
  readonly ready: Promise<void>;
  leave(): void;
}

const LISTED_CALLS = 500;
/** Max pending questions that are read: several times what one subject can have, so that one subject's questions cannot hide another's. */
const LISTED_QUESTIONS = 5000;
const LISTED_DECISIONS = 200;
/** Workers and statistics are read only in every fourth round. */
const SELDOM = 4;

/**
 * Emits what changes in a deployment. While there are listeners, it polls the store and compares each answer with the previous one. All
 * listeners of a gateway share one feed.
 */
export class LiveFeed {
  readonly #needs: FeedNeeds;
  readonly #pollMs: number;
  readonly #kept: number;
  readonly #lingerMs: number;
  readonly #listeners = new Map<(event: FeedEvent) => void, ReadonlySet<EventTopic>>();
  #epoch = randomId().slice(0, 8);
  #sequence = 0;
  #events: FeedEvent[] = [];
  #timer: NodeJS.Timeout | undefined = undefined;
  #idleSince: number | undefined = undefined;
  #looks = 0;
  #isClosed = false;
  #stopHistory: (() => void) | undefined = undefined;
  /** Listeners whose `ready` has not resolved yet, because the feed has not read all their topics, with the function that resolves it. */
  readonly #waiting = new Map<(event: FeedEvent) => void, () => void>();
  /** What the last poll read, for each topic. The next poll emits the differences. Undefined: the topic was not read yet. */
  #calls: Map<string, string> | undefined = undefined;
  #approvals: Map<ApprovalId, string> | undefined = undefined;
  #workers: string | undefined = undefined;
  #statistics: string | undefined = undefined;

  constructor(needs: FeedNeeds, { pollMs = 500, kept = 2000, lingerMs = 20_000 }: FeedSettings = {}) {
    this.#needs = needs;
    this.#pollMs = pollMs;
    this.#kept = kept;
    this.#lingerMs = lingerMs;
  }

  join(topics: ReadonlySet<EventTopic>, after: string | undefined, listener: (event: FeedEvent) => void): Joined {
    this.#listeners.set(listener, topics);
    this.#idleSince = undefined;
    this.#start();
    const from = after === undefined ? undefined : this.#indexAfter(after);
    const ready = this.#isFollowing(topics)
      ? Promise.resolve()
      : new Promise<void>((resolve) => void this.#waiting.set(listener, resolve));
    const missed = from === undefined ? [] : this.#events.slice(from).filter(({ topic }) => topics.has(topic));
    return {
      position: this.position,
      missed,
      gap: from === undefined,
      ready,
      leave: () => {
        this.#listeners.delete(listener);
        this.#release(listener);
        if (this.#listeners.size === 0) this.#idleSince = performance.now();
      },
    };
  }

  /** The id of the last emitted event. */
  get position(): string {
    return `${this.#epoch}.${this.#sequence}`;
  }

  close(): void {
    this.#isClosed = true;
    this.#stop();
    this.#listeners.clear();
    for (const listener of this.#waiting.keys()) this.#release(listener);
  }

  #release(listener: (event: FeedEvent) => void): void {
    this.#waiting.get(listener)?.();
    this.#waiting.delete(listener);
  }

  /** Whether the feed has read each of these topics, and so notices every later change in it. */
  #isFollowing(topics: ReadonlySet<EventTopic>): boolean {
    if (topics.has('calls') && (this.#calls === undefined || !this.#needs.history.isReady)) return false;
    if (topics.has('approvals') && this.#approvals === undefined) return false;
    if (topics.has('workers') && this.#workers === undefined) return false;
    return !topics.has('statistics') || this.#statistics !== undefined;
  }

  /** The index of the first event after this position. Undefined if the position is not known. */
  #indexAfter(position: string): number | undefined {
    const [epoch, number] = position.split('.');
    const sequence = Number(number);
    if (epoch !== this.#epoch || !/^\d{1,15}$/.test(number ?? '') || sequence > this.#sequence) return undefined;
    const first = this.#sequence - this.#events.length;
    return sequence < first ? undefined : sequence - first;
  }

  #start(): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#stopHistory = this.#needs.history.listen((call) => {
      this.#calls?.delete(call.callId);
      this.#emit({ topic: 'calls', call });
    });
    this.#timer = setTimeout(() => void this.#look(), 0);
  }

  /**
   * Stops polling. Changes are not noticed until the feed is started again, so a new epoch begins: positions of the old one are no longer
   * known, and a listener that names one gets `gap`.
   */
  #stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#stopHistory?.();
    this.#epoch = randomId().slice(0, 8);
    this.#sequence = 0;
    this.#events = [];
    [this.#calls, this.#approvals, this.#workers, this.#statistics] = [undefined, undefined, undefined, undefined];
  }

  async #look(): Promise<void> {
    const isIdle = this.#idleSince !== undefined && performance.now() - this.#idleSince > this.#lingerMs;
    if (isIdle) return this.#stop();
    try {
      await this.#lookAt(this.#wanted());
    } catch (error) {
      // The next poll tries again. No change is lost: it is compared with the last state that could be read.
      this.#needs.log.warn({ error }, 'the event feed could not look at the store');
    }
    if (this.#timer === undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#look(), this.#pollMs);
    this.#timer.unref();
  }

  /** The topics to read in this round. Without listeners all topics, since any former listener may connect again. */
  #wanted(): ReadonlySet<EventTopic> {
    if (this.#listeners.size === 0) return new Set(EVENT_TOPICS);
    return new Set([...this.#listeners.values()].flatMap((topics) => [...topics]));
  }

  async #lookAt(wanted: ReadonlySet<EventTopic>): Promise<void> {
    const isSeldom = this.#looks++ % SELDOM === 0;
    if (wanted.has('calls')) await this.#lookAtCalls();
    if (wanted.has('approvals')) await this.#lookAtApprovals();
    if (wanted.has('calls') || wanted.has('statistics')) await this.#needs.history.catchUp();
    if (wanted.has('workers') && (isSeldom || this.#workers === undefined)) await this.#lookAtWorkers();
    if (wanted.has('statistics') && (isSeldom || this.#statistics === undefined)) await this.#lookAtStatistics();
    for (const listener of this.#waiting.keys()) {
      if (this.#isFollowing(this.#listeners.get(listener) ?? new Set())) this.#release(listener);
    }
  }

  async #lookAtCalls(): Promise<void> {
    const rows = (await this.#needs.store.listCalls({ limit: LISTED_CALLS })).map(rowOfCall);
    const before = this.#calls;
    this.#calls = new Map(rows.map((row) => [row.callId, `${row.state} ${row.cancelRequested} ${row.approval}`]));
    if (before === undefined) return;
    for (const row of rows) {
      if (before.get(row.callId) !== this.#calls.get(row.callId)) this.#emit({ topic: 'calls', call: row });
    }
  }

  async #lookAtApprovals(): Promise<void> {
    const { store } = this.#needs;
    const pending = await store.listApprovalStates({ state: 'pending', limit: LISTED_QUESTIONS });
    const decided = await store.listApprovalStates({ skip: pending.length, limit: LISTED_DECISIONS });
    // A question that was decided between the two reads is in both lists; the later entry counts.
    const standings = [...pending, ...decided];
    const before = this.#approvals;
    this.#approvals = new Map(standings.map(({ id, state, votes }) => [id, `${state} ${votes}`]));
    if (before === undefined) return;
    // The list has the newest decided question first. Listeners want them in the order in which they were decided.
    for (const id of [...this.#approvals.keys()].toReversed()) {
      if (before.get(id) !== this.#approvals.get(id)) this.#emit({ topic: 'approvals', approvalId: id });
    }
  }

  async #lookAtWorkers(): Promise<void> {
    const workers = (await this.#needs.store.listWorkers()).map(showWorker);
    const serialised = JSON.stringify(workers);
    if (this.#workers !== undefined && serialised !== this.#workers) this.#emit({ topic: 'workers', workers });
    this.#workers = serialised;
  }

  async #lookAtStatistics(): Promise<void> {
    const { history, store } = this.#needs;
    const now = await store.now();
    history.statistics.forget(now);
    const { usualWindowMs, usualBuckets } = STATISTICS_LIMITS;
    const statistics = history.statistics.show(now, usualWindowMs, usualBuckets);
    const serialised = JSON.stringify(statistics);
    if (this.#statistics !== undefined && serialised !== this.#statistics)
      this.#emit({ topic: 'statistics', statistics });
    this.#statistics = serialised;
  }

  #emit(event: NewEvent): void {
    this.#sequence += 1;
    const emitted = { ...event, id: `${this.#epoch}.${this.#sequence}` } as FeedEvent;
    this.#events.push(emitted);
    if (this.#events.length > this.#kept * 1.1) this.#events.splice(0, this.#events.length - this.#kept);
    for (const [listener, topics] of this.#listeners) if (topics.has(emitted.topic)) listener(emitted);
  }
}
