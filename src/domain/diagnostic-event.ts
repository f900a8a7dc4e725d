import type { ApprovalId, Resolution, Severity } from './approval.ts';
import type { AttemptId } from './attempt-id.ts';
import type { EventError } from './error-category.ts';
import type { CallId, RunId, SessionId, ToolId } from './ids.ts';
import type { Executed, OutcomeKind } from './outcome.ts';
import type { Stage } from './stages.ts';
import type { ValueSummary } from './summarise-value.ts';
import type { Effect, RunnerName } from './tool.ts';

/**
 * Everything that can happen to a call, as told to whoever operates the plane. Names are `noun.verb`, past tense. Every field is an id,
 * a number, or a word of a closed list: there is no field for a text that somebody wrote, so none can carry an argument or a secret.
 * The sentences for each are in `event-table.ts`, from which `docs/events.md` is made.
 */
export interface DiagnosticEventMap {
  'call.accepted': Described & Timed & { readonly deadlineMs: number; readonly parent?: CallId };
  'call.attached': Described & Timed & { readonly parent?: CallId };
  'call.replayed': Ended & Timed & { readonly parent?: CallId };
  'call.refused': Ended & Timed & { readonly error: EventError };
  'call.claimed': { readonly fence: number; readonly recovered: boolean; readonly waitedMs: number };
  'call.resumed': { readonly fence: number };
  'call.identified': Timed;
  'call.pending': Timed;
  'call.parked': { readonly approvalId?: ApprovalId; readonly timeoutMs: number };
  'call.abandoned': Timed;
  'call.lost': Timed;
  'call.left': { readonly error: EventError };
  'call.cancelled': { readonly answer: 'cancelled' | 'cancelling' | 'settled' | 'unknown' };
  'call.expired': { readonly overdue: boolean };
  'call.settled': Ended & Timed;
  'call.replied': Ended & Timed;
  'tool.started': Described & { readonly runner: RunnerName | 'wrapped'; readonly effect?: Effect };
  'tool.completed': Timed;
  'tool.failed': Ended & Timed & { readonly error: EventError };
  'tool.blocked': Ended & { readonly error: EventError; readonly by?: BlockedBy; readonly byId?: string };
  'loop.warned': Loop;
  'loop.blocked': Loop & { readonly blocks: 'call' | 'pattern' | 'run' };
  'approval.requested': { readonly approvalId: ApprovalId; readonly severity: Severity; readonly timeoutMs: number };
  'approval.resolved': {
    readonly approvalId: ApprovalId;
    readonly resolution: Resolution;
    readonly durationMs?: number;
  };
  'hook.failed': Timed & { readonly hook: string; readonly how: HookFailure; readonly error: EventError };
  'events.lost': { readonly lost: number };
}
export type EventKind = keyof DiagnosticEventMap;

interface Timed {
  readonly durationMs: number;
}
interface Described {
  readonly parameters: ValueSummary;
}
interface Ended {
  readonly outcome: OutcomeKind;
  readonly executed: Executed;
  readonly error?: EventError;
}
interface Loop {
  readonly detector: string;
  readonly count: number;
}

export type BlockedBy = 'rule' | 'hook' | 'loop' | 'budget' | 'approval';
export type HookFailure = 'threw' | 'timed-out' | 'invalid-answer' | 'not-started' | 'exited';

/** What an event can say beside its own fields. The subject is a person and is not among them. */
export interface SharedFields {
  readonly stage?: Stage;
  readonly callId?: CallId;
  readonly attemptId?: AttemptId;
  readonly tool?: ToolId;
  readonly agent?: string;
  readonly tenant?: string;
  readonly session?: SessionId;
  readonly run?: RunId;
  readonly via?: CallVia | undefined;
  readonly trace?: TraceIds;
}

/** The door a call came in by; absent when it was made with the client library or by a tool. */
export type CallVia = 'mcp' | 'http';

/** Of the stage that the event tells of. Nothing else of a trace is in events: a tracestate can hold anything. */
export interface TraceIds {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly sampled: boolean;
  /** The trace begins here, and `parentSpanId` is the call as a whole: no caller tells of it. */
  readonly begins?: boolean;
}

interface EventHead<Kind extends EventKind> {
  readonly kind: Kind;
  /** Of this process, growing by one with each event that somebody listens for. */
  readonly seq: number;
  /** This process's clock, milliseconds since 1970. For showing; nothing is decided by it. */
  readonly at: number;
}

export type EventFacts<Kind extends EventKind> = DiagnosticEventMap[Kind] & SharedFields;
/** Frozen, all the way down. */
export type DiagnosticEvent = { [Kind in EventKind]: EventHead<Kind> & EventFacts<Kind> }[EventKind];
export type DiagnosticEventOf<Kind extends EventKind> = Extract<DiagnosticEvent, { readonly kind: Kind }>;
