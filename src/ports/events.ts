import type {
  DiagnosticEvent,
  DiagnosticEventMap,
  EventFacts,
  EventKind,
  SharedFields,
} from '../domain/diagnostic-event.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { Stage } from '../domain/stages.ts';
import type { TraceContext } from '../domain/trace-context.ts';

/** Where the parts of a process tell what happened. Telling never throws, never waits, and costs nothing while nobody listens. */
export interface Events {
  /** Somebody listens for something. Asked once per call. */
  readonly listening: boolean;
  /** Calls and their stages get spans of their own: unless all who listen do without. */
  readonly spans: boolean;
  /** Whether a trace that begins here is to be kept. */
  samples(traceId: string): boolean;
  /** Ask before putting together what an event says. */
  wants(kind: EventKind): boolean;
  /** Takes a copy of the fields that the event has; others are left out. `shared` may be kept and given again and again. */
  emit<Kind extends EventKind>(kind: Kind, facts: EventFacts<Kind>, shared?: SharedFields): void;
}

/** Tells of one call on a worker: knows what all its events share. Absent while nobody listens. */
export interface CallEmitter {
  wants(kind: EventKind): boolean;
  /** The stage is the one of the table, unless told otherwise. */
  emit<Kind extends EventKind>(kind: Kind, facts: DiagnosticEventMap[Kind], stage?: Stage): void;
  /** What a stage made of the call. Of a call that a stage has ended, later stages have nothing to tell. */
  passed(stage: Stage, result: { readonly kind: string }): void;
  settled(answer: string, outcome: Outcome): void;
  /** It was thrown out of the data path. */
  left(error: unknown): void;
  /** For whatever a stage calls: the stage's own span is the parent of theirs. Absent where nobody wants spans. */
  traceOf(stage: Stage): TraceContext | undefined;
}

/** What a subscription can ask for by value. */
export type MatchedField = Extract<keyof SharedFields, 'callId' | 'tool' | 'agent' | 'tenant' | 'session' | 'run'>;

/** Waited for when it answers with a promise. What it throws is its own loss. */
export type DiagnosticListener = (event: DiagnosticEvent) => unknown;

export interface DiagnosticSubscription {
  readonly listener: DiagnosticListener;
  /** `call.settled`, `tool.*`; all without it. `events.lost` is always told. */
  readonly kinds?: readonly (EventKind | `${string}.*`)[];
  /** Only events in which each of these has this value. */
  readonly where?: { readonly [Field in MatchedField]?: string };
  /** So many events wait for a slow listener; what comes then is lost to it, and told as `events.lost`. */
  readonly maxWaiting?: number;
  /** Does without spans. While nobody else wants any, callers' traces are passed on as they are. */
  readonly spans?: false;
  /** Which of the traces that begin here are kept: those that any listener with an opinion wants; without one, all. */
  readonly samples?: (traceId: string) => boolean;
  /** Hears nothing of traces that are not kept. */
  readonly sampledOnly?: true;
}

/** Where to listen. */
export interface EventSource {
  /** Returns how to stop listening; nothing is delivered after that, whatever was waiting. */
  readonly subscribe: (subscription: DiagnosticSubscription | DiagnosticListener) => () => void;
}

export interface EventBus extends Events, EventSource {
  /** Takes no more; waits a moment for listeners to hear what they have not heard yet. */
  close(): Promise<void>;
}
