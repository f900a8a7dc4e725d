import type {
  DiagnosticEvent,
  DiagnosticEventMap,
  EventFacts,
  EventKind,
  SharedFields,
} from '../events/diagnostic-event.ts';
import type { Outcome } from '../outcome/outcome.ts';
import type { Stage } from '../call/stages.ts';
import type { TraceContext } from '../call/trace-context.ts';

/**
 * Where the parts of a process emit diagnostic events. Emitting never throws, never waits, and costs nothing while there are no listeners.
 */
export interface Events {
  /** Whether at least one listener wants at least one kind of event. Read once per call. */
  readonly listening: boolean;
  /** Whether calls and their stages get their own spans: true unless every listener opted out of spans. */
  readonly spans: boolean;
  /** Whether a trace that starts in this process is to be kept. */
  samples(traceId: string): boolean;
  /** Whether a listener wants this kind of event. Check it before building the facts of an event. */
  wants(kind: EventKind): boolean;
  /** Copies the declared fields of the event and ignores others. The caller may pass the same `shared` object for many events. */
  emit<Kind extends EventKind>(kind: Kind, facts: EventFacts<Kind>, shared?: SharedFields): void;
}

/** Emits the events of one call on a worker, with the fields that they share. Absent while there are no listeners. */
export interface CallEmitter {
  wants(kind: EventKind): boolean;
  /** `stage` defaults to the one in the event table. */
  emit<Kind extends EventKind>(kind: Kind, facts: DiagnosticEventMap[Kind], stage?: Stage): void;
  /** Reports the result of a stage. After a result that ended the call, the results of later stages emit nothing. */
  passed(stage: Stage, result: { readonly kind: string }): void;
  settled(answer: string, outcome: Outcome): void;
  /**
   * Reports that the data path threw this error: the worker gives up the call without an outcome, and the call is recovered when its lease
   * runs out.
   */
  left(error: unknown): void;
  /** The trace context for everything a stage calls: the stage's own span is the parent. Absent while no listener wants spans. */
  traceOf(stage: Stage): TraceContext | undefined;
}

/** Fields by which a subscription can filter events. */
export type MatchedField = Extract<keyof SharedFields, 'callId' | 'tool' | 'agent' | 'tenant' | 'session' | 'run'>;

/**
 * If the listener returns a promise, it gets its next event only after that promise has settled. An error that the listener throws does not
 * affect other listeners.
 */
export type DiagnosticListener = (event: DiagnosticEvent) => unknown;

export interface DiagnosticSubscription {
  readonly listener: DiagnosticListener;
  /** For example `call.settled` or `tool.*`; default: all kinds. `events.lost` is always delivered. */
  readonly kinds?: readonly (EventKind | `${string}.*`)[];
  /** Only events in which each of these fields has this value. */
  readonly where?: { readonly [Field in MatchedField]?: string };
  /** Max events that wait for a slow listener. Further events are dropped for this listener, and it gets their number as `events.lost`. */
  readonly maxWaiting?: number;
  /** This listener does not need spans. While no other listener wants spans, callers' traces are passed on unchanged. */
  readonly spans?: false;
  /**
   * Decides which of the traces that start in this process are kept. A trace is kept if any listener with this function wants it; if no
   * listener has the function, all are kept.
   */
  readonly samples?: (traceId: string) => boolean;
  /** This listener gets no events of traces that are not kept. */
  readonly sampledOnly?: true;
}

/** The part of the event bus that listeners use. */
export interface EventSource {
  /** Returns a function that ends the subscription. Nothing is delivered after that, not even waiting events. */
  readonly subscribe: (subscription: DiagnosticSubscription | DiagnosticListener) => () => void;
}

export interface EventBus extends Events, EventSource {
  /** Accepts no more events; waits briefly for listeners to receive the waiting ones. */
  close(): Promise<void>;
}
