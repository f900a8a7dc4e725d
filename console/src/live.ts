import { computed, effect, signal } from '@preact/signals';
import { askWho, who } from './api.ts';

export const TOPICS = ['calls', 'approvals', 'workers', 'statistics'] as const;
export type Topic = (typeof TOPICS)[number];

const EVENT_OF: Readonly<Record<Topic, string>> = {
  calls: 'call',
  approvals: 'approval',
  workers: 'worker',
  statistics: 'statistics',
};

/** `off`: there are no listeners, or no person is signed in. */
export const connection = signal<'off' | 'connecting' | 'live' | 'reconnecting'>('off');

export interface Listener {
  /** Gets one changed item, as the list of the same topic would show it. */
  readonly onEvent: (data: unknown) => void;
  /** Events may have been missed: the listener must read the list again. */
  readonly onResync: () => void;
}

const listeners: Record<Topic, Set<Listener>> = {
  calls: new Set(),
  approvals: new Set(),
  workers: new Set(),
  statistics: new Set(),
};

const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 10_000;
const SOON_MS = 30;
let source: EventSource | undefined;
let retryTimer: ReturnType<typeof setTimeout> | undefined;
let retryMs = FIRST_RETRY_MS;
let wasLost = false;

/** Listens until the returned function is called. One connection carries all topics that have listeners. */
export function listen(topic: Topic, listener: Listener): () => void {
  const isNew = listeners[topic].size === 0;
  listeners[topic].add(listener);
  if (isNew) reopenSoon();
  return () => {
    listeners[topic].delete(listener);
    if (listeners[topic].size === 0) reopenSoon();
  };
}

let isReopening = false;

/** Reconnects once for several changes: going to another page ends one listener and starts another. */
function reopenSoon(): void {
  if (isReopening) return;
  isReopening = true;
  queueMicrotask(() => {
    isReopening = false;
    open();
  });
}

function open(): void {
  close();
  const topics = TOPICS.filter((topic) => listeners[topic].size > 0);
  if (topics.length === 0 || !isSignedIn.value) {
    connection.value = 'off';
    return;
  }
  connection.value = wasLost ? 'reconnecting' : 'connecting';
  const opened = new EventSource(`/v1/events?topics=${topics.join(',')}`);
  source = opened;
  opened.addEventListener('open', () => {
    retryMs = FIRST_RETRY_MS;
    connection.value = 'live';
    wasLost = false;
    // Read the lists again now that the stream is open: earlier changes were not received.
    resync();
  });
  opened.addEventListener('error', () => onLost(opened));
  opened.addEventListener('resync', resync);
  for (const topic of topics) {
    opened.addEventListener(EVENT_OF[topic], (event: MessageEvent<string>) => pass(topic, event.data));
  }
}

function close(): void {
  clearTimeout(retryTimer);
  source?.close();
  source = undefined;
}

/**
 * Handles a lost stream. The browser reconnects by itself only if the connection broke. After a response that is not a stream, it gives up,
 * so this code retries.
 */
function onLost(lost: EventSource): void {
  if (lost !== source) return;
  wasLost = true;
  connection.value = 'reconnecting';
  if (lost.readyState !== EventSource.CLOSED) return;
  clearTimeout(retryTimer);
  retryTimer = setTimeout(() => {
    // A refused stream does not state its reason. This request does: if it gets a 401, the login page is shown.
    void askWho().then(open, open);
  }, retryMs);
  retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
}

function pass(topic: Topic, text: string): void {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    resync();
    return;
  }
  for (const listener of listeners[topic]) listener.onEvent(data);
}

let resyncTimer: ReturnType<typeof setTimeout> | undefined;

/** Reads the lists again after a short delay. A stream often sends `resync` right after it opens; the delay makes one read of the two. */
function resync(): void {
  clearTimeout(resyncTimer);
  resyncTimer = setTimeout(resyncNow, SOON_MS);
}

function resyncNow(): void {
  for (const topic of TOPICS) for (const listener of listeners[topic]) listener.onResync();
}

const isSignedIn = computed(() => typeof who.value !== 'string');

// Signing in opens the stream, signing out ends it.
effect(() => queueMicrotask(isSignedIn.value ? reopenSoon : close));

// When a laptop comes back online, reconnect at once instead of waiting for the next retry.
addEventListener('online', () => {
  if (connection.value === 'reconnecting') reopenSoon();
});
