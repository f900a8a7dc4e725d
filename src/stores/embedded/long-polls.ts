import type { ClaimAnswer, ClaimRequest, TakenReply, TakeRepliesRequest } from '../../domain/ports/call-requests.ts';
import type { ClaimedEffects } from '../../domain/ports/outbound-store.ts';
import type { RequestMethod } from './store-methods.ts';
import { callerTopic, CATALOG_TOPIC, OUTBOUND_TOPIC, poolTopic } from './transaction.ts';

/** One request as a client sent it. */
export interface StoreJob {
  readonly method: RequestMethod;
  readonly argument: unknown;
  /** The client that sent the request. Its long polls end when it disconnects. */
  readonly peer: object;
  readonly answer: (answer: JobAnswer) => void;
}

type JobAnswer =
  | { readonly kind: 'answered'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly error: Error };

interface PollRule {
  readonly topic: (argument: never) => string;
  readonly isEmpty: (value: never) => boolean;
}

/**
 * For each method that may wait (`waitMs`): the topic whose changes end the wait, and which answers are empty. After an empty answer the
 * request keeps waiting.
 */
const POLL_RULES: Partial<Record<RequestMethod, PollRule>> = {
  claimCalls: {
    topic: ({ pool }: ClaimRequest) => poolTopic(pool),
    isEmpty: ({ deliveries }: ClaimAnswer) => deliveries.length === 0,
  },
  takeReplies: {
    topic: ({ callerId }: TakeRepliesRequest) => callerTopic(callerId),
    isEmpty: (replies: TakenReply[]) => replies.length === 0,
  },
  claimEffects: { topic: () => OUTBOUND_TOPIC, isEmpty: ({ effects }: ClaimedEffects) => effects.length === 0 },
  watchCatalog: { topic: () => CATALOG_TOPIC, isEmpty: (catalog: unknown) => catalog === undefined },
};

/** Looks only at the method, because the argument may not have been checked yet. */
export function isPoll(job: StoreJob): boolean {
  return POLL_RULES[job.method] !== undefined;
}

/** Returns the topic that a job may wait for; undefined for a job that never waits. */
function topicOf(job: StoreJob): string | undefined {
  return POLL_RULES[job.method]?.topic(job.argument as never);
}

export function isEmptyAnswer(job: StoreJob, value: unknown): boolean {
  return POLL_RULES[job.method]?.isEmpty(value as never) === true;
}

function waitMsOf(job: StoreJob): number {
  const waitMs = (job.argument as { waitMs?: unknown } | undefined)?.waitMs;
  return typeof waitMs === 'number' && waitMs > 0 ? waitMs : 0;
}

export interface WaitingPoll {
  readonly job: StoreJob;
  readonly topic: string;
  readonly timer: NodeJS.Timeout;
}

// Longer timeouts overflow in Node and fire at once.
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Requests that wait inside the store thread without blocking it, in order of arrival. */
export class LongPolls {
  readonly #byTopic = new Map<string, Set<WaitingPoll>>();

  /** Returns false for a job that does not want to wait. `onTimeout` gets the job when its time is up. */
  add(job: StoreJob, onTimeout: (job: StoreJob) => void): boolean {
    const topic = topicOf(job);
    const waitMs = waitMsOf(job);
    if (topic === undefined || waitMs === 0) return false;
    const timer = setTimeout(
      () => {
        this.remove(poll);
        onTimeout(job);
      },
      Math.min(waitMs, MAX_TIMER_MS),
    );
    const poll: WaitingPoll = { job, topic, timer };
    const polls = this.#byTopic.get(topic) ?? new Set();
    this.#byTopic.set(topic, polls.add(poll));
    return true;
  }

  on(topic: string): WaitingPoll[] {
    return [...(this.#byTopic.get(topic) ?? [])];
  }

  remove(poll: WaitingPoll): void {
    clearTimeout(poll.timer);
    const polls = this.#byTopic.get(poll.topic);
    polls?.delete(poll);
    if (polls?.size === 0) this.#byTopic.delete(poll.topic);
  }

  /** Removes the polls of one peer, or all polls, and returns their jobs. */
  removeAll(peer?: object): StoreJob[] {
    const polls = [...this.#byTopic.values()].flatMap((found) => [...found]);
    const removed = polls.filter((poll) => peer === undefined || poll.job.peer === peer);
    for (const poll of removed) this.remove(poll);
    return removed.map((poll) => poll.job);
  }
}
