import type { DiagnosticEvent, EventKind, SharedFields } from '../domain/events/diagnostic-event.ts';
import { planeError } from '../domain/errors/errors.ts';
import { EVENT_KINDS } from '../domain/events/event-table.ts';
import type { DiagnosticSubscription, EventBus, MatchedField } from '../domain/ports/events.ts';
import { copyEvent } from './copy-event.ts';
import { EventQueue } from './event-queue.ts';

export interface EventBusOptions {
  /** Called when a listener throws or is too slow, once per listener and kind of problem. */
  readonly onError?: (problem: string, error?: unknown) => void;
  /** Max time that `close` waits for listeners. */
  readonly drainMs?: number;
}

interface Listening {
  readonly kinds: ReadonlySet<EventKind>;
  readonly where: readonly (readonly [MatchedField, string])[];
  readonly queue: EventQueue;
  readonly spans: boolean;
  readonly samples: ((traceId: string) => boolean) | undefined;
  readonly sampledOnly: boolean;
}

const DRAIN_MS = 1000;
const DEFAULT_WAITING = 1000;
const MAX_WAITING = 100_000;
const MATCHED: readonly string[] = ['callId', 'tool', 'agent', 'tenant', 'session', 'run'] satisfies MatchedField[];

/** One counter for the whole process, so that events of a client and of a worker in the same process can be put in one order. */
let lastSeq = 0;

export function createEventBus({ onError, drainMs = DRAIN_MS }: EventBusOptions = {}): EventBus {
  const listeners = new Set<Listening>();
  const wanted = new Set<EventKind>();
  let samplers: ((traceId: string) => boolean)[] = [];
  let closed = false;
  const bus = {
    listening: false,
    spans: true,
    samples: (traceId: string) => samplers.length === 0 || samplers.some((samples) => samples(traceId)),
    wants: (kind: EventKind) => wanted.has(kind),
    emit,
    subscribe,
    close,
  };

  function emit(kind: EventKind, facts: object, shared?: SharedFields): void {
    if (!wanted.has(kind)) return;
    const isKept = shared?.trace?.sampled !== false;
    let event: DiagnosticEvent | undefined;
    for (const { kinds, where, queue, sampledOnly } of listeners) {
      if (!kinds.has(kind) || (sampledOnly && !isKept)) continue;
      event ??= copyEvent(kind, (lastSeq += 1), facts, shared);
      if (where.every(([field, value]) => event![field] === value)) queue.offer(event);
    }
  }

  function subscribe(given: Parameters<EventBus['subscribe']>[0]): () => void {
    const subscription = checked(typeof given === 'function' ? { listener: given } : given);
    if (closed) return () => undefined;
    const { listener, maxWaiting = DEFAULT_WAITING } = subscription;
    const listening: Listening = {
      kinds: kindsOf(subscription),
      where: Object.entries(subscription.where ?? {}).filter(
        (entry): entry is [MatchedField, string] => entry[1] !== undefined,
      ),
      spans: subscription.spans !== false,
      samples: subscription.samples,
      sampledOnly: subscription.sampledOnly === true,
      queue: new EventQueue({ listener, maxWaiting, onError: (...failure) => onError?.(...failure) }),
    };
    listeners.add(listening);
    recount();
    return () => {
      listening.queue.stop();
      listeners.delete(listening);
      recount();
    };
  }

  function recount(): void {
    wanted.clear();
    const all = closed ? [] : [...listeners];
    for (const { kinds } of all) for (const kind of kinds) wanted.add(kind);
    bus.listening = wanted.size > 0;
    bus.spans = all.length === 0 || all.some(({ spans }) => spans);
    samplers = all.flatMap(({ samples }) => (samples === undefined ? [] : [samples]));
  }

  async function close(): Promise<void> {
    closed = true;
    recount();
    await Promise.all([...listeners].map(({ queue }) => queue.drain(drainMs)));
    listeners.clear();
  }

  return bus;
}

function kindsOf({ kinds = ['*'] }: { readonly kinds?: readonly string[] }): Set<EventKind> {
  const isMeant = (kind: string): boolean =>
    kinds.some((each) => each === '*' || each === kind || (each.endsWith('.*') && kind.startsWith(each.slice(0, -1))));
  return new Set(EVENT_KINDS.filter((kind) => kind !== 'events.lost' && isMeant(kind)));
}

/** Rejects a wrong filter. Otherwise its listener would get no events, and the mistake would go unnoticed. */
function checked(subscription: DiagnosticSubscription): DiagnosticSubscription {
  const { listener, kinds = [], where = {}, maxWaiting = DEFAULT_WAITING } = subscription;
  const problems = kinds
    .filter((kind) => kindsOf({ kinds: [kind] }).size === 0 && kind !== 'events.lost')
    .map((kind) => `there are no events "${kind}"`);
  for (const field of Object.keys(where)) {
    if (!MATCHED.includes(field)) problems.push(`events cannot be chosen by "${field}"`);
  }
  if (typeof listener !== 'function') problems.push('the listener of events must be a function');
  if (!Number.isInteger(maxWaiting) || maxWaiting < 1 || maxWaiting > MAX_WAITING) {
    problems.push(`maxWaiting ${maxWaiting} must be a whole number from 1 to ${MAX_WAITING}`);
  }
  if (problems.length > 0) throw planeError('CONFIG_INVALID', { problems });
  return subscription;
}
